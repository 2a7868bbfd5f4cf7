import CFuse
import Glibc
import QuireCoordination
import QuireCore
import QuireStore
import Testing

@testable import QuireFilesystem

@Suite("The sync engine's changes are compare-and-swaps in the driver")
struct DriverCommitTests {
    private func install(
        _ store: TestStore, _ path: RelativePath, _ text: String, expecting: LocalChange.Expectation,
        refuseIfOpen: Bool = false
    ) throws -> LocalChangeResult {
        let staged = ".staged"
        try store.write(staged, text)
        return try store.driver.commit(
            LocalChange(
                path: path, .install(stagedPath: store.root + "/" + staged, dataless: false), expecting: expecting,
                base: nil,
                refuseIfOpen: refuseIfOpen))
    }

    @Test("A closed file's node stands for the new file from then on")
    func rebindsClosedNode() throws {
        let store = try TestStore()
        try store.write("a", "old")
        let node = try store.lookUp("a")
        let before = try store.status("a")
        let result = try install(store, "a", "remote", expecting: .fingerprint(before.fingerprint))
        guard case .done = result else { return #expect(Bool(false), "\(result)") }
        #expect(try store.status("a").inode != before.inode)
        #expect(try store.driver.resolver.status(node).st_size == 6)
        #expect(store.driver.table.known(before.inode) == nil)
    }

    @Test("What is made without a claim waits once somebody coordinates")
    func yields() async throws {
        let store = try TestStore()
        try store.write("a", "old")
        try store.write(".staged", "remote")
        var change = LocalChange(
            path: "a", .install(stagedPath: store.root + "/.staged", dataless: false),
            expecting: .fingerprint(try store.status("a").fingerprint), base: nil)
        change.yieldsToApps = true
        let coordinator = store.driver.services.coordinator
        let claim = try await coordinator.acquire([.writing("a")], purpose: Purpose("app"))
        #expect(try store.driver.commit(change) == .busy)
        coordinator.release(claim)
        guard case .done = try store.driver.commit(change) else { return #expect(Bool(false), "it waits still") }
    }

    /// What the kernel is told of a file that is put in the place of `a`, or of one that nothing has been at.
    private func notices(_ store: TestStore, at path: RelativePath = "a") throws -> [String] {
        try store.write(".staged", "remote")
        let before = try store.driver.tree.status(at: path)
        let change = LocalChange(
            path: path, .install(stagedPath: store.root + "/.staged", dataless: false),
            expecting: before.map { .fingerprint($0.fingerprint) } ?? .absent, base: nil)
        return try store.driver.swap(change) { store.driver.follow($0, keepsContent: false) }.notices.map {
            switch $0 {
            case .entry(_, let name): "entry \(name)"
            case .content(let node): node.isDirectory ? "content of the directory" : "content"
            case .attributes(let node): node.isDirectory ? "attributes of the directory" : "attributes"
            }
        }
    }

    @Test("The kernel is told of pages where it may have some: since a handle was opened, and once")
    func pages() throws {
        let store = try TestStore()
        try store.write("a", "old")
        let node = try store.lookUp("a")
        #expect(try notices(store) == ["attributes", "attributes of the directory"])
        let file = try store.open(node, forWriting: false)
        store.driver.table.locked { store.driver.table.leave(file, &$0) }
        #expect(try notices(store) == ["attributes", "content", "attributes of the directory"])
        #expect(try notices(store) == ["attributes", "attributes of the directory"])
    }

    @Test("The kernel is told nothing of a directory that nobody has asked for since it was made for a change")
    func unseen() throws {
        let store = try TestStore()
        try store.makeDirectory("d")
        let directory = try store.lookUp("d")
        #expect(try notices(store, at: "d/a") == ["entry a"])
        store.driver.table.locked { _ in directory.isUnseen = true }
        #expect(try notices(store, at: "d/b") == [])
        #expect(try notices(store, at: "d/b") == [])
        _ = try store.lookUp("d")
        #expect(try notices(store, at: "d/b") == ["entry b"])
    }

    @Test("A file open for reading keeps its content; the name gets the new file")
    func detachesOpenNode() throws {
        let store = try TestStore()
        try store.write("a", "old")
        let node = try store.lookUp("a")
        let file = try store.open(node, forWriting: false)
        let result = try install(store, "a", "remote", expecting: .fingerprint(try store.status("a").fingerprint))
        guard case .done = result else { return #expect(Bool(false), "\(result)") }
        #expect(try store.driver.resolver.status(node).st_size == 3)
        #expect(try store.lookUp("a") !== node)
        _ = file
    }

    @Test(
        "Readers of what arrives are handed the file that was installed only where it is the one that they read",
        arguments: [[".staged"], [".other"], [".staged", ".other"]])
    func arrivals(read: [String]) throws {
        let store = try TestStore()
        try store.write("a", "none")
        try store.write(".staged", "here")
        try store.write(".other", "h\0\0\0")
        let node = try store.lookUp("a")
        let files = try read.map { try store.openArriving(node, in: $0) }
        let change = LocalChange(
            path: "a", .install(stagedPath: store.root + "/.staged", dataless: false),
            expecting: .fingerprint(try store.status("a").fingerprint), base: nil, keepsContent: true)
        guard case .done = try store.driver.commit(change) else { return #expect(Bool(false), "not installed") }
        let areOfIt = !read.contains(".other")
        #expect(files.allSatisfy { ($0.arrival?.settled != nil) == areOfIt })
        #expect((try store.lookUp("a") === node) == areOfIt)
    }

    @Test(
        "Where descriptors are short readers of what arrives read on, and who opens the document has what was installed"
    )
    func arrivalsWithoutDescriptors() throws {
        let store = try TestStore()
        try store.write("a", "none")
        try store.write(".staged", "here")
        let node = try store.lookUp("a")
        let files = try [false, true].map { try store.openArriving(node, in: ".staged", isLast: $0) }
        let change = LocalChange(
            path: "a", .install(stagedPath: store.root + "/.staged", dataless: false),
            expecting: .fingerprint(try store.status("a").fingerprint), base: nil, keepsContent: true)
        guard case .done = try store.driver.commit(change) else { return #expect(Bool(false), "not installed") }
        #expect(files.allSatisfy { $0.arrival?.settled == nil })
        let present = try store.lookUp("a")
        #expect(present !== node)
        let writer = try store.open(present, forWriting: true)
        #expect(try StoreCall.status(of: writer.descriptor).inode == store.status("a").inode)
    }

    @Test("A file open for writing is not replaced")
    func refusesWhileWriting() throws {
        let store = try TestStore()
        try store.write("a", "old")
        let node = try store.lookUp("a")
        let file = try store.open(node, forWriting: true)
        let result = try install(store, "a", "remote", expecting: .fingerprint(try store.status("a").fingerprint))
        #expect(result == .busy)
        #expect(try store.status("a").size == 3)
        #expect(store.events.isEmpty)
        _ = file
    }

    @Test("An eviction is refused while anybody has the file open")
    func refusesEvictionOfOpenFile() throws {
        let store = try TestStore()
        try store.write("a", "old")
        let node = try store.lookUp("a")
        let file = try store.open(node, forWriting: false)
        let expectation = LocalChange.Expectation.fingerprint(try store.status("a").fingerprint)
        #expect(try install(store, "a", "none", expecting: expectation, refuseIfOpen: true) == .busy)
        _ = file
    }

    @Test("What changed since it was looked at is left alone")
    func refusesStaleExpectation() throws {
        let store = try TestStore()
        try store.write("a", "old")
        let before = try store.status("a")
        try store.write("a", "edited meanwhile")
        #expect(try install(store, "a", "remote", expecting: .fingerprint(before.fingerprint)) == .stale)
        #expect(try install(store, "a", "remote", expecting: .absent) == .stale)
        #expect(try store.status("a").size == 16)
    }

    @Test("A move keeps the node and changes its path")
    func movesNode() throws {
        let store = try TestStore()
        try store.makeDirectory("d")
        try store.write("a", "old")
        _ = try store.lookUp("d")
        let node = try store.lookUp("a")
        let change = LocalChange(
            path: "a", .move(to: "d/b"), expecting: .fingerprint(try store.status("a").fingerprint), base: nil)
        guard case .done = try store.driver.commit(change) else { return #expect(Bool(false), "not moved") }
        #expect(store.driver.table.path(of: node) == "d/b")
        #expect(try store.driver.resolver.status(node).st_size == 3)
    }

    @Test("Every change is recorded as committed, with its base")
    func recordsCommit() throws {
        let store = try TestStore()
        let result = try install(store, "new", "remote", expecting: .absent)
        guard case .done(let status?) = result else { return #expect(Bool(false), "\(result)") }
        #expect(
            store.events == [
                .committed(
                    .init(
                        .installed(parent: try store.status(.root).inode, name: "new", status, dataless: false),
                        base: nil))
            ])
    }
}
