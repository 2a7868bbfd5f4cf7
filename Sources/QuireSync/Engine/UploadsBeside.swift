import QuireCore
import QuireIndex
import Synchronization

/// A large upload that a push waits for, or has left to go on by itself.
struct UploadBeside: Sendable {
    var item: ItemID
    /// Where it works: the provider's paths, and where the document was here, all below the container's root.
    var places: [RelativePath]

    var subject: ParkedSubject { .item(item) }
}

/// Large uploads that go on beside the rounds: a push leaves them to themselves once somebody else is to have a turn, and a
/// later one takes up how they ended.
///
/// What they work at is nobody else's until then: no push sends anything there, and no pull changes anything.
final class UploadsBeside: Sendable {
    private struct Entry {
        var upload: UploadBeside
        var task: Task<Void, Never>
        /// The push that waits for it; nil once that has left it.
        var waiter: FirstAnswer<SendOutcome>?
    }

    private struct State {
        var entries: [ItemID: Entry] = [:]
        var ended: [(UploadBeside, SendOutcome)] = []
        var observer: (@Sendable () -> Void)?
        var waiting: [FirstAnswer<Bool>] = []
    }

    /// Innermost lock: nothing else is taken while it is held; the observer is called, and waiters are resumed, outside.
    private let state = Lock(State())

    // MARK: - what is beside

    /// Those that no push waits for, until `takeEnded` has handed out how they ended.
    var all: [UploadBeside] {
        state.withLock { state in
            state.entries.values.filter { $0.waiter == nil }.map(\.upload) + state.ended.map(\.0)
        }
    }

    func contains(_ subject: ParkedSubject) -> Bool { all.contains { $0.subject == subject } }

    /// How many those are.
    var count: Int { all.count }

    /// Has `observer` called whenever one has ended that no push waited for, on any thread; for one observer.
    func observe(_ observer: @escaping @Sendable () -> Void) { state.withLock { $0.observer = observer } }

    /// How those ended that did since the last call.
    func takeEnded() -> [(upload: UploadBeside, outcome: SendOutcome)] {
        state.withLock { state in
            defer { state.ended = [] }
            return state.ended.map { ($0.0, $0.1) }
        }
    }

    // MARK: - running

    /// Runs an upload, and returns how it ended: `.beside` where `leave` was called before.
    func run(
        _ upload: UploadBeside, on executor: any TaskExecutor, isLeft: () -> Bool,
        _ body: @escaping @Sendable () async -> SendOutcome
    ) async -> SendOutcome {
        let (start, waiter) = (FirstAnswer<Bool>(), FirstAnswer<SendOutcome>())
        let task = Task(executorPreference: executor) {
            _ = await start.value()
            let outcome = await body()
            self.end(upload, outcome)
        }
        state.withLock { $0.entries[upload.item] = Entry(upload: upload, task: task, waiter: waiter) }
        start.give(true)
        // Who left all others has not seen this one.
        if isLeft() { leave() }
        return await withTaskCancellationHandler {
            await waiter.value()
        } onCancel: {
            task.cancel()
        }
    }

    /// Leaves all that a push waits for to themselves: it goes on with what else it has.
    func leave() {
        let waiters = state.withLock { state in
            var waiters: [FirstAnswer<SendOutcome>] = []
            for item in Array(state.entries.keys) {
                if let waiter = state.entries[item]?.waiter { waiters.append(waiter) }
                state.entries[item]?.waiter = nil
            }
            return waiters
        }
        for waiter in waiters { waiter.give(.beside) }
    }

    private func end(_ upload: UploadBeside, _ outcome: SendOutcome) {
        let (waiter, waiting, observer) = state.withLock { state in
            let waiter = state.entries.removeValue(forKey: upload.item)?.waiter
            if waiter == nil { state.ended.append((upload, outcome)) }
            defer { if waiter == nil { state.waiting = [] } }
            return (waiter, waiter == nil ? state.waiting : [], state.observer)
        }
        if let waiter { return waiter.give(outcome) }
        observer?()
        for waiting in waiting { waiting.give(true) }
    }

    // MARK: - waiting

    /// Returns when one has ended that no push waited for, or patience is over.
    func untilOneEnds(within patience: Duration, _ clock: SyncClock) async {
        let answer = FirstAnswer<Bool>()
        let isOver = state.withLock { state in
            if state.ended.isEmpty { state.waiting.append(answer) }
            return !state.ended.isEmpty
        }
        guard !isOver else { return }
        _ = await answer.value(within: patience, clock, else: false)
        state.withLock { state in state.waiting.removeAll { $0 === answer } }
    }

    /// Breaks off those that no push waits for, and returns when they have ended.
    func cancel() async {
        let tasks = state.withLock { $0.entries.values.filter { $0.waiter == nil }.map(\.task) }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }
}
