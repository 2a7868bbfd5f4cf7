import QuireCore
import Synchronization

/// What the ingest thread tells the rest: how far it is, who waits for that, and how the rescan stands.
final class IngestProgress: Sendable {
    struct Waiter {
        var target: UInt64
        var since: SuspendingClock.Instant
        var continuation: CheckedContinuation<Result<Void, IndexError>, Never>
    }

    struct State {
        var committed: UInt64 = 0
        var waiters: [Waiter] = []
        var rescansWanted = 0
        var rescansDone = 0
        var rescan = RescanProgress()
        var listed: Set<Int64> = []
        var unread: [Int64: UnreadPlace] = [:]
        var rescanWaiters: [CheckedContinuation<Void, Never>] = []
        var observers: [UInt64: AsyncStream<Void>.Continuation] = [:]
        var nextObserver: UInt64 = 0
        var failure: IndexError?
        var rebuild: IndexRebuild?
        /// Whether the file is damaged is known when so much was committed.
        var suspectedUntil: UInt64 = 0
        /// When it was last found whole for that.
        var foundWhole: ContinuousClock.Instant?
        var isEnded = false
    }

    /// Innermost lock: continuations are resumed after it was left.
    let state = Lock(State())
    /// An element for each file that was begun in the place of a damaged one. For one listener.
    let rebuilds: AsyncStream<IndexRebuild>
    let rebuild: AsyncStream<IndexRebuild>.Continuation

    init() { (rebuilds, rebuild) = AsyncStream.makeStream() }

    // MARK: Settling

    /// Returns when `target` entries were committed; with the error, when the thread fails for longer than `limit`.
    func wait(for target: UInt64) async -> Result<Void, IndexError> {
        await withCheckedContinuation { continuation in
            let answer = state.withLock { state -> Result<Void, IndexError>? in
                if state.committed >= target { return .success(()) }
                if state.isEnded { return .failure(state.failure ?? .closed) }
                state.waiters.append(
                    Waiter(target: target, since: SuspendingClock.now, continuation: continuation))
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }

    var committedCount: UInt64 { state.withLock { $0.committed } }

    /// - Parameter isNews: whoever observes is to look.
    func committed(upTo count: UInt64, isNews: Bool = true) {
        let (ready, observers) = state.withLock { state in
            state.committed = max(state.committed, count)
            state.failure = nil
            let ready = state.waiters.filter { $0.target <= count }
            if !ready.isEmpty { state.waiters.removeAll { $0.target <= count } }
            return (ready, isNews ? Array(state.observers.values) : [])
        }
        for waiter in ready { waiter.continuation.resume(returning: .success(())) }
        for observer in observers { observer.yield() }
    }

    /// Something else than events changed what readers see.
    func tick() {
        let observers = state.withLock { Array($0.observers.values) }
        for observer in observers { observer.yield() }
    }

    /// A commit failed and is retried: those who wait for long are told.
    func failed(_ error: IndexError, limit: Duration) {
        let now = SuspendingClock.now
        let late = state.withLock { state in
            state.failure = error
            let late = state.waiters.filter { $0.since.duration(to: now) >= limit }
            state.waiters.removeAll { $0.since.duration(to: now) >= limit }
            return late
        }
        for waiter in late { waiter.continuation.resume(returning: .failure(error)) }
    }

    /// Why commits fail at present.
    var failure: IndexError? { state.withLock { $0.failure } }

    /// The thread is over.
    func ended() {
        let (waiters, rescanWaiters, observers) = state.withLock { state in
            state.isEnded = true
            defer {
                state.waiters = []
                state.rescanWaiters = []
                state.observers = [:]
            }
            return (state.waiters, state.rescanWaiters, Array(state.observers.values))
        }
        let error = failure ?? .closed
        for waiter in waiters { waiter.continuation.resume(returning: .failure(error)) }
        for waiter in rescanWaiters { waiter.resume() }
        for observer in observers { observer.finish() }
        rebuild.finish()
    }

    // MARK: Observation

    /// An element after each commit of something new; ticks that nobody took yet are one.
    func changes() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let id = state.withLock { state -> UInt64? in
            guard !state.isEnded else { return nil }
            state.nextObserver += 1
            state.observers[state.nextObserver] = continuation
            return state.nextObserver
        }
        guard let id else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.observers.removeValue(forKey: id) }
        }
        return stream
    }

    // MARK: Rescan

    func rescanWanted() {
        state.withLock { state in
            state.rescansWanted += 1
            state.rescan.isActive = true
            state.listed = []
        }
    }

    /// - Parameter isRead: all that is in the directory could be looked at.
    func rescanListed(_ directory: Int64, isRead: Bool, queued: Int) {
        state.withLock { state in
            if isRead { state.listed.insert(directory) }
            state.rescan.directoriesDone = state.listed.count
            state.rescan.directoriesQueued = queued
        }
    }

    /// A whole rescan ended: answers all that were wanted until then.
    func rescanEnded(_ report: RescanReport, answering count: Int) {
        let ready = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.rescan.lastReport = report
            state.rescan.directoriesQueued = 0
            state.rescansDone = max(state.rescansDone, count)
            guard state.rescansDone >= state.rescansWanted else { return [] }
            state.rescan.isActive = false
            state.listed = []
            if report.failure == nil { state.rebuild = nil }
            defer { state.rescanWaiters = [] }
            return state.rescanWaiters
        }
        for waiter in ready { waiter.resume() }
    }

    /// What of the store could not be looked at.
    func setUnread(_ places: [Int64: UnreadPlace]) { state.withLock { $0.unread = places } }
    var unread: [Int64: UnreadPlace] { state.withLock { $0.unread } }

    var rescansWanted: Int { state.withLock { $0.rescansWanted } }
    var rescan: RescanProgress { state.withLock { $0.rescan } }

    /// Whether a directory was compared with the store since the index was opened; nil asks for none in particular.
    func isRescanned(_ directory: Int64?) -> Bool {
        state.withLock { state in
            guard state.rescan.isActive else {
                // One that failed compared nothing, or not all.
                return state.rescansDone > 0 && state.rescan.lastReport?.failure == nil
            }
            return directory.map { state.listed.contains($0) } ?? false
        }
    }

    func waitForRescan() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.isEnded || !state.rescan.isActive { return true }
                state.rescanWaiters.append(continuation)
                return false
            }
            if isOver { continuation.resume() }
        }
    }
}

extension IndexError {
    static let closed = IndexError(.closed, "the index is closed")
}
