import Glibc
import QuireCore
import Testing

@testable import QuireFilesystem

@Suite("Lingering mappings")
struct LingeringMappingsTests {
    @Test("A file lingers while somebody can write to it, and is told of when that begins and ends")
    func turns() async throws {
        let store = try TestStore()
        let path = "\(store.root)/a"
        let writer = Descriptor(owning: open(path, O_RDWR | O_CREAT, 0o600))
        let status = try StoreCall.status(of: writer)
        let node = Node(inode: status.inode, isDirectory: false, at: nil)
        let file = OpenFile(node: node, descriptor: writer, isWriter: true, claim: nil)
        let mapped = try #require(LingeringMappings.Mapped(file, FileStatus(status)))
        let mappings = LingeringMappings()
        mappings.watch(mapped) { nil }
        #expect(!mappings.contains(status.inode) && mappings.files.count == 1)
        #expect(!mappings.note(FileStatus(status).fingerprint, of: status.inode))
        var answer: Bool? = mapped.mayBeWritten
        #expect(answer == true)
        var began = 0
        while began == 0 {
            let (turns, goesOn) = mappings.look { _ in answer }
            #expect(goesOn)
            began += turns.count
            await Task.yield()
        }
        #expect(mappings.contains(status.inode))
        answer = false
        let (turns, goesOn) = mappings.look { _ in answer }
        let isEnd = if case .ended? = turns.first { true } else { false }
        #expect(isEnd && turns.count == 1)
        #expect(!goesOn && !mappings.contains(status.inode) && mappings.files.isEmpty)
        // Watched anew, and opened by somebody who will close it.
        mappings.watch(mapped) { nil }
        #expect(mappings.look { _ in nil }.turns.isEmpty && mappings.files.isEmpty)
    }
}
