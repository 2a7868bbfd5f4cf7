import QuireCore
@testable import QuireIndex
import QuireProviders
import QuireStore
@testable import QuireSync
import Testing

/// A home that was copied, or restored without all that was in it, while the daemon was stopped.
@Suite(.timeLimit(.minutes(1))) struct LostStoreTests {
    let clock = TestClock()
    let memory = MemoryProvider()

    private func provided(_ path: RelativePath) -> String? {
        memory.contents(at: path).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("A placeholder that was moved in a copy of the home is moved at the provider, with its content")
    func movedInCopy() async throws {
        memory.edit {
            $0.write("doc", "content")
            $0.write("other", "other content")
        }
        let device = try Device("one", provider: memory, clock: clock)
        #expect(await device.sync() == .settled)
        try device.renameUnseen("doc", "moved")
        try await device.metadata.write("a test") { try $0.run("UPDATE items SET inode = inode + 1000000000") }
        device.metadata.beginRescan()
        #expect(await device.restartedService(memory).syncNow(timeout: nil) == .settled)
        #expect(provided("doc") == nil)
        #expect(provided("moved") == "content")
        #expect(provided("other") == "other content")
        #expect(try await device.open("moved") == "content")
    }
}
