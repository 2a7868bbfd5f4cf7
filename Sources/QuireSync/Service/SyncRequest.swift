import QuireCore
import Synchronization

/// Whether somebody still waits for a `syncNow`.
final class SyncRequest: Sendable {
    private let abandoned = Atomic<Bool>(false)

    var isAbandoned: Bool { abandoned.load(ordering: .relaxed) }

    func abandon() { abandoned.store(true, ordering: .relaxed) }
}

/// Hands the first of several answers to the one who waits for it.
final class FirstAnswer<Value: Sendable>: Sendable {
    private enum State {
        case open
        case waiting(CheckedContinuation<Value, Never>)
        case answered(Value)
    }

    /// Innermost lock: nothing else is taken while it is held; the waiter is resumed outside.
    private let state = Lock(State.open)

    /// Later answers are dropped.
    func give(_ answer: Value) {
        let waiter = state.withLock { state -> CheckedContinuation<Value, Never>? in
            switch state {
            case .open:
                state = .answered(answer)
                return nil
            case .waiting(let waiter):
                state = .answered(answer)
                return waiter
            case .answered: return nil
            }
        }
        waiter?.resume(returning: answer)
    }

    /// Waits for the first answer; to be called once.
    func value() async -> Value {
        await withCheckedContinuation { continuation in
            let answer = state.withLock { state -> Value? in
                if case .answered(let answer) = state { return answer }
                state = .waiting(continuation)
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }

    /// The first answer, or `late` once `patience` is over, or the task is cancelled: whoever was to give one goes on then.
    func value(within patience: Duration, _ clock: SyncClock, else late: Value) async -> Value {
        let alarm = Task {
            // Cancelled when the answer came before.
            try? await clock.sleep(patience)
            give(late)
        }
        defer { alarm.cancel() }
        return await withTaskCancellationHandler {
            await value()
        } onCancel: {
            give(late)
        }
    }
}
