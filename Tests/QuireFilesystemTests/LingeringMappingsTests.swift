import Glibc
import QuireCore
import Testing

@testable import QuireFilesystem

@Suite("Lingering mappings")
struct LingeringMappingsTests {
    /// A file in a store, as it is when its writer was closed.
    private func closed(_ store: TestStore) throws -> (file: LingeringMappings.Mapped, writer: Descriptor) {
        let writer = Descriptor(owning: open("\(store.root)/a", O_RDWR | O_CREAT, 0o600))
        let status = FileStatus(try StoreCall.status(of: writer))
        let node = Node(inode: status.inode, isDirectory: false, at: nil)
        let file = OpenFile(node: node, descriptor: writer, isWriter: true, claim: nil)
        return (try #require(LingeringMappings.Mapped(file, told: status.fingerprint)), writer)
    }

    @Test("A file lingers while somebody can write to it, and is told of when that begins and ends")
    func turns() async throws {
        let store = try TestStore()
        let (file, writer) = try closed(store)
        let mappings = LingeringMappings(limit: 1)
        #expect(mappings.watch(file) { false })
        #expect(!mappings.contains(file.inode) && mappings.mayChange(file.inode))
        #expect(file.mayBeWritten)
        while mappings.note(file, mayBeWritten: true) != .changed { await Task.yield() }
        #expect(mappings.contains(file.inode))
        #expect(mappings.note(file, mayBeWritten: true) == .told(file.closed))
        #expect(mappings.contains(file.inode))
        #expect(mappings.note(file, mayBeWritten: false) == .changed)
        #expect(!mappings.contains(file.inode) && mappings.files.isEmpty)
        #expect(mappings.note(file, mayBeWritten: true) == nil)
        withExtendedLifetime(writer) {}
    }

    @Test("What a mapping that is over at once has changed is told")
    func short() throws {
        let store = try TestStore()
        let (file, _) = try closed(store)
        let mappings = LingeringMappings(limit: 1)
        #expect(mappings.watch(file) { false })
        #expect(mappings.note(file, mayBeWritten: false) == .told(file.closed))
        #expect(!mappings.mayChange(file.inode))
    }

    @Test("More than can be watched are refused; one that is watched is not counted twice")
    func limit() throws {
        let store = try TestStore()
        let (file, _) = try closed(store)
        #expect(!LingeringMappings(limit: 0).watch(file) { false })
        let mappings = LingeringMappings(limit: 1)
        for _ in 0..<2 { #expect(mappings.watch(file) { false }) }
        #expect(mappings.files.count == 1)
    }
}
