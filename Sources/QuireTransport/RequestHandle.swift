package import QuireCore
import Synchronization

/// A request that is under way, for whoever may want to take it back.
package final class RequestHandle: Sendable {
    private struct State {
        var isTakenBack = false
        var takeBack: (@Sendable () -> Void)?
    }

    // Taken alone.
    private let state = Lock(State())

    package init() {}

    /// Whether the request was taken back; it may have been answered before all the same.
    package var isTakenBack: Bool { state.withLock { $0.isTakenBack } }

    /// Takes the request back, now or as soon as it is sent. Any thread.
    package func takeBack() {
        let takeBack = state.withLock { state in
            state.isTakenBack = true
            return state.takeBack
        }
        takeBack?()
    }

    /// Has `takeBack` run when the request is taken back, or at once where it was; in place of what was to run before.
    package func whenTakenBack(_ takeBack: @escaping @Sendable () -> Void) {
        let isLate = state.withLock { state in
            state.takeBack = takeBack
            return state.isTakenBack
        }
        if isLate { takeBack() }
    }

    fileprivate func ended() { state.withLock { $0.takeBack = nil } }
}

extension RPCPeer {
    /// Asks the other side and waits for its answer, also when the task is cancelled or the request taken back: what the
    /// answer gives, a claim, must not get lost. Taken back, the answer comes soon: that it was, or what came first.
    ///
    /// - Parameter handle: takes it back, also when the task is cancelled; nil for what has to be said whatever becomes of the
    ///   task, as that an access is over.
    package func finish<Method: WireMethod>(
        _ method: Method.Type, _ parameters: Method.Parameters, handle: RequestHandle?,
        onPartial: (@Sendable (Method.Partial) -> Void)? = nil
    ) async throws(QuireError) -> Method.Result {
        let outcome: Result<Method.Result, QuireError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                var number: Int64?
                readingForItself {
                    number.map { isWaiting(for: $0) } ?? false
                } asking: {
                    let id = send(method, parameters, onPartial: onPartial) { continuation.resume(returning: $0) }
                    guard let id else { return }
                    handle?.whenTakenBack { [self] in notify(WireCancel.method, WireCancel(id: id)) }
                    if case .number(let sent) = id { number = sent }
                }
            }
        } onCancel: {
            handle?.takeBack()
        }
        handle?.ended()
        return try outcome.get()
    }
}
