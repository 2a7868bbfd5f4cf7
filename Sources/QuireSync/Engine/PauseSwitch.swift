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
    func hold() async {
        let watchers = state.withLock { state in
            state.holds += 1
            return Array(state.watchers.values)
        }
        for watcher in watchers { watcher() }
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

    private func begin() -> Bool {
        state.withLock { state in
            guard state.holds == 0 else { return false }
            state.running.begin()
            return true
        }
    }

    private func finish() { for waiter in state.withLock({ $0.running.end() }) { waiter.resume() } }

    // MARK: - running

    /// Runs `body`, and cancels it when a pause begins; nil without running it where one is, or everything is held.
    func unlessPaused<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async -> Value? {
        let (stops, stop) = AsyncStream.makeStream(of: Void.self)
        let watcher = state.withLock { state in
            state.nextWatcher += 1
            state.watchers[state.nextWatcher] = { stop.finish() }
            return state.nextWatcher
        }
        defer { state.withLock { $0.watchers[watcher] = nil } }
        guard end == nil, begin() else { return nil }
        defer { finish() }
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
