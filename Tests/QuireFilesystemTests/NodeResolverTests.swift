import CFuse
import Glibc
import QuireCore
import Testing

@testable import QuireFilesystem

@Suite("Nodes find their files by name")
struct NodeResolverTests {
    @Test("A file is found after its directory was renamed")
    func followsRenamedDirectory() throws {
        let store = try TestStore()
        try store.makeDirectory("old")
        try store.write("old/a", "content")
        let directory = try store.lookUp("old")
        let file = try store.lookUp("old/a")
        let root = store.driver.table.root
        #expect(rename(store.root + "/old", store.root + "/new") == 0)
        store.driver.table.locked { _ in
            Driver.reattach(
                directory, from: Entry(directory: root, name: "old"), to: Entry(directory: root, name: "new"))
        }
        #expect(try store.driver.resolver.status(file).st_size == 7)
        #expect(store.driver.table.path(of: file) == "new/a")
    }

    @Test("Two hundred levels are walked with room for one directory descriptor")
    func worksWithOneDescriptor() throws {
        let store = try TestStore(descriptorLimit: 1)
        var path = "d"
        try store.makeDirectory(path)
        for _ in 1..<200 {
            path += "/d"
            try store.makeDirectory(path)
        }
        try store.write(path + "/leaf", "x")
        let leaf = try store.lookUp(#require(RelativePath(parsing: path + "/leaf")))
        _ = try store.lookUp("d")
        #expect(try store.driver.resolver.status(leaf).st_size == 1)
        let cached = store.driver.table.locked { $0.cachedDirectories.count }
        #expect(cached == 1)
    }

    @Test("Another file that took the name is not mistaken for the node's")
    func noticesReplacedFile() throws {
        let store = try TestStore()
        try store.write("a", "one")
        let node = try store.lookUp("a")
        try store.write("b", "another")
        #expect(rename(store.root + "/b", store.root + "/a") == 0)
        do {
            _ = try store.driver.resolver.status(node)
            Issue.record("the file is gone")
        } catch {
            #expect(error.errno == ESTALE)
        }
    }

    @Test("Opening waits while somebody asks who writes to the file", .timeLimit(.minutes(1)))
    func waitsForLease() async throws {
        let store = try TestStore()
        try store.write("a", "one")
        let node = try store.lookUp("a")
        // As `LiveFile.open` asks. Who opens the file meanwhile breaks the lease: by a signal that ends no process.
        let (setSignal, setLease, getLease) = (CInt(10), CInt(1024), CInt(1025))
        let lease = Descriptor(owning: Glibc.open(store.root + "/a", O_RDONLY | O_CLOEXEC))
        #expect(fcntl(lease.raw, setSignal, SIGURG) == 0)
        try #require(fcntl(lease.raw, setLease, CInt(F_RDLCK)) == 0)
        let raw = lease.raw
        var opened: Result<Descriptor, DriverError>?
        await withCheckedContinuation { continuation in
            let holder = OwnedThread(name: "test-holder") {
                // Until the file is being opened.
                while fcntl(raw, getLease) == CInt(F_RDLCK) { sched_yield() }
                _ = fcntl(raw, setLease, CInt(F_UNLCK))
                continuation.resume()
            }
            precondition(holder != nil, "no thread can be started")
            opened = Result { () throws(DriverError) in try store.driver.resolver.open(node, O_RDWR) }
        }
        withExtendedLifetime(lease) {}
        let descriptor = try #require(try opened?.get())
        #expect(write(descriptor.raw, "two", 3) == 3)
    }

    @Test("A file without a name is reached while a handle is open")
    func reachesUnlinkedOpenFile() throws {
        let store = try TestStore()
        try store.write("a", "one")
        let node = try store.lookUp("a")
        let file = try store.open(node, forWriting: false)
        #expect(unlink(store.root + "/a") == 0)
        store.driver.detach(node.inode, from: store.driver.table.root, "a", wasLast: true, kept: nil)
        #expect(try store.driver.resolver.status(node).st_size == 3)
        #expect(store.driver.table.path(of: node) == nil)
        _ = file
    }

    @Test("A hard link keeps both names, and the node when one goes")
    func hardLinksShareANode() throws {
        let store = try TestStore()
        try store.write("a", "one")
        #expect(link(store.root + "/a", store.root + "/b") == 0)
        let first = try store.lookUp("a")
        let second = try store.lookUp("b")
        #expect(first === second)
        #expect(unlink(store.root + "/b") == 0)
        store.driver.detach(first.inode, from: store.driver.table.root, "b", wasLast: false, kept: nil)
        #expect(try store.driver.resolver.status(first).st_nlink == 1)
    }

    @Test("A node is forgotten once the kernel gave back every lookup")
    func forgetsNodes() throws {
        let store = try TestStore()
        try store.write("a", "one")
        let node = try store.lookUp("a")
        _ = try store.lookUp("a")
        store.driver.table.forget(node, 1)
        #expect(store.driver.table.known(node.inode) === node)
        store.driver.table.forget(node, 1)
        #expect(store.driver.table.known(node.inode) == nil)
    }
}
