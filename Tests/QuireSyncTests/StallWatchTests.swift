import QuireCore
import Synchronization
import Testing

@testable import QuireSync

/// Transfers of which nothing arrives.
@Suite(.timeLimit(.minutes(1)))
struct StallWatchTests {
    /// A clock that stands until it is set forward.
    private final class StandingClock: Sendable {
        private struct State {
            var now = FileTime(nanoseconds: 0)
            /// How far somebody has set it.
            var shift = Duration.zero
            /// Until when the one who sleeps does.
            var sleeper: (end: FileTime, continuation: CheckedContinuation<Void, any Error>)?
            var watcher: CheckedContinuation<Void, Never>?
        }

        private let state = Lock(State())

        var clock: SyncClock {
            SyncClock(
                now: { self.state.withLock { $0.now.advanced(by: $0.shift) } },
                uptime: { self.state.withLock { $0.now.since(FileTime(nanoseconds: 0)) } },
                sleep: { try await self.sleep($0) }, random: { 0.5 })
        }

        /// Somebody sets it, which takes no time.
        func set(by duration: Duration) { state.withLock { $0.shift += duration } }

        private func sleep(_ duration: Duration) async throws {
            guard duration > .zero else { return await Task.yield() }
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    let watcher = state.withLock { state in
                        state.sleeper = (state.now.advanced(by: duration), continuation)
                        defer { state.watcher = nil }
                        return state.watcher
                    }
                    watcher?.resume()
                    if Task.isCancelled { cancel() }
                }
            } onCancel: {
                cancel()
            }
        }

        private func cancel() {
            let sleeper = state.withLock { state in
                defer { state.sleeper = nil }
                return state.sleeper
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }

        var isSlept: Bool { state.withLock { $0.sleeper != nil } }

        /// Sets it forward, once somebody sleeps.
        func step(_ duration: Duration) async {
            await withCheckedContinuation { continuation in
                let isSlept = state.withLock { state in
                    if state.sleeper == nil { state.watcher = continuation }
                    return state.sleeper != nil
                }
                if isSlept { continuation.resume() }
            }
            let due = state.withLock { state -> CheckedContinuation<Void, any Error>? in
                state.now = state.now.advanced(by: duration)
                guard let sleeper = state.sleeper, sleeper.end <= state.now else { return nil }
                state.sleeper = nil
                return sleeper.continuation
            }
            due?.resume()
        }
    }

    /// A transfer that lasts until it is cancelled, or told to end.
    private final class Transfer: Sendable {
        private let end = AsyncStream.makeStream(of: Void.self)
        private let notes = AsyncStream.makeStream(of: (@Sendable () -> Void).self)

        func run(_ note: @escaping @Sendable () -> Void) async -> String {
            notes.continuation.yield(note)
            for await _ in end.stream { return "done" }
            return "cancelled"
        }

        /// What it calls when something arrives, once it runs.
        func note() async -> @Sendable () -> Void {
            for await note in notes.stream { return note }
            return {}
        }

        func finish() { end.continuation.yield() }
    }

    private let watch = StallWatch()
    private let standing = StandingClock()
    private let executor = PoolExecutor(label: "test-stall", width: 2)

    private func start(_ transfer: Transfer) -> Task<(value: String, isStalled: Bool), Never> {
        Task { await watch.watch(.seconds(30), standing.clock, on: executor) { await transfer.run($0) } }
    }

    @Test("The one of which nothing arrives is ended, the other goes on; with the last one the timer goes")
    func oneOfTwo() async {
        let (silent, lively) = (Transfer(), Transfer())
        let (first, second) = (start(silent), start(lively))
        _ = await silent.note()
        let note = await lively.note()
        await standing.step(.seconds(20))
        note()
        await standing.step(.seconds(10))
        #expect(await first.value == ("cancelled", true))
        await standing.step(.seconds(19))
        #expect(standing.isSlept)
        lively.finish()
        #expect(await second.value == ("done", false))
        #expect(!standing.isSlept)
    }

    @Test("One of which nothing arrives is ended in time, also where the clock is set back")
    func clockSetBack() async {
        let silent = Transfer()
        let task = start(silent)
        _ = await silent.note()
        standing.set(by: .seconds(-7200))
        await standing.step(.seconds(30))
        #expect(await task.value == ("cancelled", true))
    }

    @Test("Who is cancelled cancels the transfer, which was no stall")
    func cancelled() async {
        let transfer = Transfer()
        let task = start(transfer)
        _ = await transfer.note()
        task.cancel()
        #expect(await task.value == ("cancelled", false))
    }
}
