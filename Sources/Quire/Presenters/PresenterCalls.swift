import Foundation
import QuireCore
import QuireTransport
import Synchronization

/// The daemon's calls to the presenters of one connection, in order, each answered.
///
/// A question is answered when the presenter has; what a presenter is only told is answered as soon as it is in its queue.
final class PresenterCalls: Sendable {
    private struct Waiting {
        let request: RPCIncoming
        let call: PresenterMethods.Call.Parameters
        let peer: RPCPeer
    }

    private struct Registered {
        let entry: PresenterEntry
        let mount: MountPath
        /// See `PresenterEntry.connection`.
        let connection: UInt64
    }

    private struct State {
        var entries: [UInt64: Registered] = [:]
        /// Registrations whose answer is missing: a call may come before it.
        var registering = 0
        var early: [Waiting] = []
    }

    // Taken alone.
    private let state = Lock(State())

    // MARK: Registration

    /// Registers a presenter over a connection.
    func register(
        _ entry: PresenterEntry, at path: RelativePath?, _ session: DriveSession
    ) async throws(QuireError) {
        let connection = entry.connection
        state.withLock { $0.registering += 1 }
        let parameters = PresenterMethods.Add.Parameters(
            path: path.map { WirePath($0) }, purpose: entry.purpose, callbacks: Callback.registered,
            observedAttributes: UbiquityAttributes.names(
                of: entry.presenter.observedPresentedItemUbiquityAttributes))
        let result: Result<PresenterMethods.Add.Result, QuireError>
        do throws(QuireError) {
            // A number that is given out must not get lost with the task: nobody would answer for it.
            result = .success(
                try await session.connection.peer.finish(PresenterMethods.Add.self, parameters, handle: nil))
        } catch {
            result = .failure(error)
        }
        let number = try? result.get().presenter
        entry.number = number
        let early = state.withLock { state -> [Waiting] in
            state.registering -= 1
            if let number {
                state.entries[number] = Registered(entry: entry, mount: session.mount, connection: connection)
            }
            let (mine, others) = state.early.partitioned { $0.call.presenter == number || state.registering == 0 }
            state.early = others
            return mine
        }
        for waiting in early { perform(waiting) }
        _ = try result.get()
    }

    /// Ends a registration; returns at once. What the daemon still asks is answered.
    func unregister(_ entry: PresenterEntry, _ session: DriveSession) {
        guard let number = entry.number else { return }
        state.withLock { $0.entries[number] = nil }
        session.connection.peer.send(PresenterMethods.Remove.self, .init(presenter: number)) { _ in
            // Gone either way: with the registration, or with the connection.
        }
    }

    /// The connection is gone.
    func forgetAll() {
        state.withLock { state in
            state.entries = [:]
            state.early = []
        }
    }

    // MARK: Calls

    /// Takes a request of the daemon, on the thread that reads.
    func take(_ request: RPCIncoming, _ peer: RPCPeer) {
        guard request.method == PresenterMethods.Call.name else {
            let message = "there is no method \(request.method)"
            return peer.answer(request.id, with: RPCError(code: RPCError.methodNotFound, message: message))
        }
        do throws(RPCError) {
            let call = try request.parameters(PresenterMethods.Call.Parameters.self)
            let waiting = Waiting(request: request, call: call, peer: peer)
            let isEarly = state.withLock { state in
                let isEarly = state.entries[call.presenter] == nil && state.registering > 0
                if isEarly { state.early.append(waiting) }
                return isEarly
            }
            if !isEarly { perform(waiting) }
        } catch {
            peer.answer(request.id, with: error)
        }
    }

    private func perform(_ waiting: Waiting) {
        let registered = state.withLock { $0.entries[waiting.call.presenter] }
        let answer = PresenterAnswer(waiting.request.id, waiting.peer)
        // Of a presenter that has just been removed, and of a callback that this library does not know: dropped, `answer`
        // says that there is nothing to say.
        guard let registered, let callback = Callback(rawValue: waiting.call.callback) else { return }
        callback.perform(waiting.call, on: registered.entry, of: registered.connection, registered.mount, answer)
    }
}

extension Array {
    /// Those that match, and the others, both in their order.
    fileprivate func partitioned(by matches: (Element) -> Bool) -> ([Element], [Element]) {
        (filter(matches), filter { !matches($0) })
    }
}
