import Logging
import QuireCore
import QuireProviders
import QuireStore
import Synchronization
import Testing

@testable import QuireSync

/// Checksums of what came in parts, from a provider that tells none.
@Suite("Missing checksums", .timeLimit(.minutes(1)))
struct MissingChecksumsTests {
    private let clock = TestClock()
    private let memory = MemoryProvider()

    /// Keeps the drive busy now and then.
    private final class BusyCommitter: LocalTreeCommitter {
        let inner: any LocalTreeCommitter
        /// What is answered, one after the other.
        let answers = Lock<[Bool]>([])

        init(inner: any LocalTreeCommitter) { self.inner = inner }

        func commit(_ change: LocalChange) throws(LocalChangeError) -> LocalChangeResult { try inner.commit(change) }
        func isOpenForWriting(inode: UInt64) -> Bool { inner.isOpenForWriting(inode: inode) }
        func changesVisible() async { await inner.changesVisible() }
        var isBusy: Bool { answers.withLock { $0.isEmpty ? false : $0.removeFirst() } }
    }

    @Test("Each has its turn, also where there is time for one only and the first cannot be counted")
    func turns() async throws {
        for path in ["one", "two"] as [RelativePath] {
            memory.edit { $0.write(path, .file([UInt8](repeating: 0x61, count: Int(ReadAhead.block) + 1))) }
        }
        let device = try Device("one", provider: memory, clock: clock)
        #expect(await device.sync() == .settled)
        for path in ["one", "two"] as [RelativePath] { _ = try await device.open(path) }
        try await device.index.settle()
        let missing = try await device.index.uncountedFiles(after: nil, limit: 10).map(\.drivePath)
        try #require(missing.count == 2)
        // It is not what the index knows of.
        try device.writeUnseen(missing[0], "other")
        var environment = device.service.environment
        let committer = BusyCommitter(inner: environment.committer)
        environment.committer = committer
        let checksums = MissingChecksums(environment, transfers: TransferBoard(), logger: Logger(label: "test"))
        for _ in missing {
            committer.answers.withLock { $0 = [false, true] }
            #expect(try await !checksums.count())
        }
        try await device.index.settle()
        #expect(try await device.index.uncountedFiles(after: nil, limit: 10).map(\.drivePath) == [missing[0]])
        // From the first again, until all had their turn.
        #expect(try await !checksums.count())
        #expect(try await checksums.count())
    }
}
