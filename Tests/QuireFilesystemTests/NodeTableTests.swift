import CFuse
import Glibc
import QuireCore
import Testing

@testable import QuireFilesystem

@Suite("The table of nodes")
struct NodeTableTests {
    private func status(_ inode: UInt64) -> FileStatus {
        var status = stat()
        status.st_ino = ino_t(inode)
        status.st_mode = S_IFREG | 0o644
        status.st_nlink = 1
        return FileStatus(status)
    }

    @Test("What the kernel forgets makes the table small again, and what it still knows is found")
    func shrinks() throws {
        let table = try TestStore().driver.table
        // Not the inode of the store's root, which counts, too.
        let first = table.locked { _ in table.root.inode } + 1
        let nodes = (0..<100_000).map { number in
            table.lookUp(status(first + UInt64(number)), in: table.root, name: FileName(unchecked: [1]))
        }
        let full = table.locked { $0.byInode.capacity }
        #expect(full >= 100_000)
        for (number, node) in nodes.enumerated() where number % 100 != 0 { table.forget(node, 1) }
        let kept = table.locked { $0.byInode.capacity }
        #expect(kept < full / 8)
        let count = table.locked { $0.byInode.count }
        #expect(count == 1001)
        for (number, node) in nodes.enumerated() where number % 100 == 0 {
            #expect(table.known(first + UInt64(number)) === node)
            table.forget(node, 1)
        }
    }

    @Test(
        "The kernel keeps a file's attributes, but not once the file had another name: it counts down what is told meanwhile"
    )
    func otherNames() throws {
        let store = try TestStore()
        try store.write("a", "x")
        let (table, node) = (store.driver.table, try store.lookUp("a"))
        var status = try store.driver.resolver.status(node)
        #expect(table.shown(status, of: node).mayBeKept)
        status.st_nlink = 2
        #expect(!table.shown(status, of: node).mayBeKept)
        status.st_nlink = 1
        #expect(!table.shown(status, of: node).mayBeKept)
    }

    @Test("Directories swapped in the store beside the driver close no circle: the one whose place is over has none")
    func swappedBesideTheDriver() throws {
        let store = try TestStore()
        try store.makeDirectory("A")
        try store.makeDirectory("A/B")
        let (table, resolver) = (store.driver.table, store.driver.resolver)
        let (outer, inner) = (try store.lookUp("A"), try store.lookUp("A/B"))
        let descriptor = try resolver.directory(inner)
        #expect(rename(store.root + "/A/B", store.root + "/B") == 0)
        #expect(rename(store.root + "/A", store.root + "/B/A") == 0)
        // The kernel still has B in A, and the driver reaches B by its descriptor.
        let found = FileStatus(try StoreCall.status(in: descriptor, "A"))
        #expect(table.lookUp(found, in: inner, name: "A") === outer)
        expectClimbEnds(from: outer, table)
        try #require(table.locked { _ in !inner.hasName })
        #expect(table.path(of: inner) == nil)
        #expect(table.path(of: outer) == nil)
        table.locked { state in
            for node in state.cachedDirectories { node.descriptor = nil }
            state.cachedDirectories = []
        }
        for node in [inner, outer] {
            #expect {
                _ = try resolver.directory(node)
            } throws: {
                ($0 as? DriverError)?.errno == ESTALE
            }
        }
        // Looked up anew, both have their places.
        #expect(try store.lookUp("B/A") === outer)
        #expect(table.path(of: outer) == "B/A")
        #expect(table.path(of: inner) == "B")
        #expect(try resolver.status(outer).inode == outer.inode)
    }

    @Test("A rename below a place that is over closes no circle either; a directory gets no former place back")
    func renamedBesideAFormerPlace() throws {
        let store = try TestStore()
        try store.makeDirectory("A")
        try store.makeDirectory("A/B")
        let table = store.driver.table
        let (outer, inner) = (try store.lookUp("A"), try store.lookUp("A/B"))
        let (here, there) = (Entry(directory: table.root, name: "A"), Entry(directory: inner, name: "A"))
        table.locked { _ in Driver.reattach(outer, from: here, to: there) }
        expectClimbEnds(from: outer, table)
        try #require(table.locked { _ in !inner.hasName })
        // The table thought it elsewhere than it was renamed from.
        let last = Entry(directory: table.root, name: "C")
        table.locked { _ in Driver.reattach(outer, from: here, to: last) }
        #expect(table.locked { _ in outer.names } == [last])
        table.locked { _ in outer.removeName(last) }
        #expect(table.path(of: outer) == nil)
    }

    @Test("A directory that shows itself inside itself, as a bind mount does, keeps its place")
    func insideItself() throws {
        let store = try TestStore()
        try store.makeDirectory("A")
        let (table, node) = (store.driver.table, try store.lookUp("A"))
        let found = FileStatus(try store.driver.resolver.status(node))
        #expect(table.lookUp(found, in: node, name: "same") === node)
        expectClimbEnds(from: node, table)
        #expect(table.locked { _ in node.names } == [Entry(directory: table.root, name: "A")])
    }

    /// Climbs by the names as the table does, but not for ever.
    private func expectClimbEnds(from node: Node, _ table: NodeTable) {
        let climb = table.locked { _ in
            Array(sequence(first: node) { $0.latestName?.directory }.prefix(10).map(\.inode))
        }
        #expect(climb.count < 10, "\(climb)")
    }

    @Test("Closing one of very many handles of a file takes no longer for their number")
    func leavesAtOnce() throws {
        let store = try TestStore()
        try store.write("a", "x")
        let node = try store.lookUp("a")
        let descriptor = try store.driver.resolver.open(node, O_RDONLY)
        let count = 100_000
        // In the order in which they were opened: the worst for whoever searches from the end, and half as bad otherwise.
        let time = ContinuousClock().measure {
            let files = (0..<count).map { number in
                OpenFile(node: node, descriptor: descriptor, isWriter: number % 2 == 0, claim: nil)
            }
            store.driver.table.locked { state in for file in files { store.driver.table.enter(file, &state) } }
            for file in files.indices where file % 2 == 0 {
                store.driver.table.locked { store.driver.table.leave(files[file], &$0) }
            }
            let readers = store.driver.table.locked { _ in node.files.count { !$0.isWriter } }
            #expect(readers == count / 2)
            for file in files.indices where file % 2 == 1 {
                store.driver.table.locked { store.driver.table.leave(files[file], &$0) }
            }
        }
        #expect(!store.driver.table.locked { _ in node.isOpen })
        #expect(store.driver.table.locked { _ in node.writers } == 0)
        // Searching takes billions of steps: minutes in a debug build.
        #expect(time < .seconds(10))
    }

    @Test("A file that was moved without the kernel's doing is known as that until the kernel is given it where it is")
    func takenAway() throws {
        let store = try TestStore()
        for name in ["a", "b"] { try store.write(name, name) }
        let (node, other) = (try store.lookUp("a"), try store.lookUp("b"))
        let table = store.driver.table
        func isTakenAway(_ node: Node) -> Bool { table.locked { _ in node.wasTakenAway } }
        #expect(rename(store.root + "/a", store.root + "/moved") == 0)
        let root = try store.status(.root)
        store.driver.moved(root.inode, "a", root.inode, "moved", try store.status("moved"))
        #expect(isTakenAway(node) && !isTakenAway(other))
        // Of another file nothing is learnt, nor of an answer that was on its way under the former name.
        _ = try store.lookUp("b")
        _ = table.lookUp(try store.status("moved"), in: table.root, name: "a")
        #expect(isTakenAway(node))
        #expect(try store.lookUp("moved") === node)
        #expect(!isTakenAway(node))
    }
}
