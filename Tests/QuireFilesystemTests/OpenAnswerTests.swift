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

    @Test("As long as a mapping may store past what was read, pages are not kept")
    func mapped() throws {
        let store = try TestStore()
        try store.write("a", "one")
        let node = try store.lookUp("a")
        let writer = try store.open(node, forWriting: true)
        let mapped = try #require(LingeringMappings.Mapped(writer, told: store.status("a").fingerprint))
        _ = store.driver.close(writer.retainedHandle())
        let mappings = store.driver.table.mappings
        #expect(mappings.watch(mapped) { false })
        store.driver.table.locked { _ in node.pagesMayBeStale = true }
        for _ in 0..<2 { #expect(try !keepsPages(store, node)) }
        #expect(mappings.note(mapped, mayBeWritten: false) != nil)
        #expect(try !keepsPages(store, node))
        #expect(try keepsPages(store, node))
    }

    @Test("Who opens another file before the kernel was told of that gets nothing of the former's pages")
    func replaced() throws {
        let store = try TestStore()
        try store.write("a", "one")
        let node = try store.lookUp("a")
        #expect(try keepsPages(store, node))
        try store.write(".staged", "two")
        let change = LocalChange(
            path: "a", .install(stagedPath: store.root + "/.staged", dataless: false),
            expecting: .fingerprint(try store.status("a").fingerprint), base: nil)
        guard case .done = try store.driver.commit(change) else { return #expect(Bool(false), "not installed") }
        #expect(try store.lookUp("a") === node)
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
