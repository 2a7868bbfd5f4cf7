package import QuireCore
import Synchronization

/// Until when the drive sends nothing to its providers, and asks them for nothing but what a program opens.
package enum PauseEnd: Sendable, Hashable {
    case at(FileTime)
    /// Until somebody resumes it.
    case never

    /// As it is kept between two daemons.
    package var text: String {
        switch self {
        case .at(let time): "\(time.nanoseconds)"
        case .never: "never"
        }
    }

    /// Nil for what `text` never is.
    package init?(text: String) {
        if text == "never" {
            self = .never
        } else {
            guard let nanoseconds = Int64(text) else { return nil }
            self = .at(FileTime(nanoseconds: nanoseconds))
        }
    }
}

/// Whether synchronisation pauses; what is under way when a pause begins is broken off.
final class PauseSwitch: Sendable {
    private struct State {
        var end: PauseEnd?
        /// See `hold`.
        var holds = 0
        var running = UnderWay()
        /// How much of that is with which provider.
        var providers: [String: Int] = [:]
        var waitingForRelease: [CheckedContinuation<Void, Never>] = []
        var watchers: [UInt64: @Sendable () -> Void] = [:]
        var nextWatcher: UInt64 = 0
    }

    private let clock: SyncClock
    /// Innermost lock: nothing else is taken while it is held; watchers are called outside.
    private let state = Lock(State())

    init(clock: SyncClock) { self.clock = clock }

    /// When the pause ends; nil while there is none.
    var end: PauseEnd? {
        let end = state.withLock { $0.end }
        if case .at(let time)? = end, time <= clock.now() { return nil }
        return end
    }

    /// Begins a pause, or with nil ends it.
    func set(_ end: PauseEnd?) {
        let watchers = state.withLock { state in
            state.end = end
            return end == nil ? [] : Array(state.watchers.values)
        }
        for watcher in watchers { watcher() }
    }

    // MARK: - holding

    /// Whether nothing is begun, though the drive may not be paused.
    var isHeld: Bool { state.withLock { $0.holds > 0 } }

    /// Has nothing begin from now on, breaks off what is under way, and returns when that has ended. `release` undoes it;
    /// where several hold, the last one's.
    ///
    /// - Parameter tell: given with whom something is under way still, after `patience`.
    func hold(patience: Duration, _ tell: @escaping @Sendable ([String]) -> Void) async {
        beginHold()
        let alarm = Task { [clock] in
            // Cancelled when that has ended before.
            guard (try? await clock.sleep(patience)) != nil else { return }
            let providers = state.withLock { $0.providers.keys.sorted() }
            if !providers.isEmpty { tell(providers) }
        }
        await untilNothingIsUnderWay()
        alarm.cancel()
    }

    /// The same, for no longer than `patience` and only while the task is not cancelled: a call may never come back.
    ///
    /// - Returns: with whom something is under way still; nothing is held then. Empty where only the task was cancelled.
    func hold(atMost patience: Duration) async -> [String]? {
        beginHold()
        let first = FirstAnswer<Bool>()
        // Ends with what is under way.
        Task {
            await untilNothingIsUnderWay()
            first.give(true)
        }
        let isHeld = await first.value(within: patience, clock, else: false)
        // What was waited for may have ended at this moment.
        let providers = state.withLock { $0.providers.keys.sorted() }
        guard !isHeld, Task.isCancelled || !providers.isEmpty else { return nil }
        release()
        return providers
    }

    private func beginHold() {
        let watchers = state.withLock { state in
            state.holds += 1
            return Array(state.watchers.values)
        }
        for watcher in watchers { watcher() }
    }

    private func untilNothingIsUnderWay() async {
        await withCheckedContinuation { waiter in state.withLock { $0.running.wait(waiter) }?.resume() }
    }

    func release() {
        let waiting = state.withLock { state in
            state.holds -= 1
            guard state.holds == 0 else { return [CheckedContinuation<Void, Never>]() }
            defer { state.waitingForRelease = [] }
            return state.waitingForRelease
        }
        for waiter in waiting { waiter.resume() }
    }

    /// Returns when nothing is held.
    func released() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.holds > 0 { state.waitingForRelease.append(continuation) }
                return state.holds == 0
            }
            if isFree { continuation.resume() }
        }
    }

    private func begin(_ provider: String) -> Bool {
        state.withLock { state in
            guard state.holds == 0 else { return false }
            state.running.begin()
            state.providers[provider, default: 0] += 1
            return true
        }
    }

    private func finish(_ provider: String) {
        let waiters = state.withLock { state in
            let left = state.providers[provider, default: 1] - 1
            state.providers[provider] = left == 0 ? nil : left
            return state.running.end()
        }
        for waiter in waiters { waiter.resume() }
    }

    // MARK: - running

    /// Runs `body`, and cancels it when a pause begins; nil without running it where one is, or everything is held.
    ///
    /// - Parameter provider: the name of the one that it asks.
    func unlessPaused<Value: Sendable>(
        with provider: String, _ body: @escaping @Sendable () async -> Value
    ) async -> Value? {
        let (stops, stop) = AsyncStream.makeStream(of: Void.self)
        let watcher = state.withLock { state in
            state.nextWatcher += 1
            state.watchers[state.nextWatcher] = { stop.finish() }
            return state.nextWatcher
        }
        defer { state.withLock { $0.watchers[watcher] = nil } }
        guard end == nil, begin(provider) else { return nil }
        defer { finish(provider) }
        return await withTaskGroup(of: Value?.self) { group in
            group.addTask { await body() }
            group.addTask {
                for await _ in stops {}
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            if let first { return first }
            return await group.next() ?? nil
        }
    }
}
