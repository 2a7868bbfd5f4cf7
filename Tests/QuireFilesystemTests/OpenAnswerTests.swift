import CFuse
import Glibc
import QuireCore
import Testing

@testable import QuireFilesystem

@Suite("What the kernel is told of a handle")
struct OpenAnswerTests {
    @Test(
        "Pages of before the kernel wrote past them are dropped by the next handle that reads by them; later ones are kept"
    )
    func stalePages() throws {
        let store = try TestStore()
        try store.write("a", "one")
        let node = try store.lookUp("a")
        #expect(try keepsPages(store, node))
        store.driver.table.locked { _ in node.pagesMayBeStale = true }
        #expect(try !keepsPages(store, node))
        #expect(try keepsPages(store, node))
    }

    /// Opens a handle for reading and closes it.
    private func keepsPages(_ store: TestStore, _ node: Node) throws -> Bool {
        let descriptor = try store.driver.resolver.open(node, O_RDONLY)
        let file = OpenFile(node: node, descriptor: descriptor, isWriter: false, claim: nil)
        let answer = store.driver.register(file, try StoreCall.status(of: descriptor), O_RDONLY)
        _ = store.driver.close(file.retainedHandle())
        return answer.flags & UInt32(CFUSE_OPEN_KEEP_CACHE) != 0
    }
}
