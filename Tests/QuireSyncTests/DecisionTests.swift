import QuireCore
import QuireProviders
import QuireSync
import Synchronization
import Testing

/// What a provider decides for good.
@Suite("Decisions of providers", .timeLimit(.minutes(1)))
struct DecisionTests {
    /// Decides on its first connection, unless it was decided before.
    private final class Decider: ForwardingProvider {
        let inner: any DocumentProvider
        private let word: String
        private let decided = Lock<String?>(nil)
        private let isConnected = Lock(false)

        init(_ inner: any DocumentProvider, _ word: String) {
            self.inner = inner
            self.word = word
        }

        var decision: String? { decided.withLock { $0 } }

        func recall(_ decision: String) {
            if !isConnected.withLock({ $0 }) { decided.withLock { $0 = decision } }
        }

        func connect(expected: String?) async throws(ProviderError) -> String {
            isConnected.withLock { $0 = true }
            decided.withLock { $0 = $0 ?? word }
            return try await inner.connect(expected: expected)
        }
    }

    @Test("What it decided when it was first connected is what it decides after a restart")
    func kept() async throws {
        let memory = MemoryProvider()
        let device = try Device("one", provider: Decider(memory, "this way"), clock: TestClock())
        #expect(await device.sync() == .settled)
        let next = Decider(memory, "another way")
        let service = device.restartedService(next)
        #expect(await service.syncNow(timeout: nil) == .settled)
        #expect(next.decision == "this way")
    }
}
