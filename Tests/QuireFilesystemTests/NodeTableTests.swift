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
}
