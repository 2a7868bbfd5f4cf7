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

    private struct State {
        var entries: [UInt64: PresenterEntry] = [:]
        var mounts: [UInt64: MountPath] = [:]
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
                state.entries[number] = entry
                state.mounts[number] = session.mount
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
        state.withLock { state in
            state.entries[number] = nil
            state.mounts[number] = nil
        }
        session.connection.peer.send(PresenterMethods.Remove.self, .init(presenter: number)) { _ in
            // Gone either way: with the registration, or with the connection.
        }
    }

    /// The connection is gone.
    func forgetAll() {
        state.withLock { state in
            state.entries = [:]
            state.mounts = [:]
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
        let (entry, mount) = state.withLock { state in
            (state.entries[waiting.call.presenter], state.mounts[waiting.call.presenter])
        }
        let answer = PresenterAnswer(waiting.request.id, waiting.peer)
        // Of a presenter that has just been removed, and of a callback that this library does not know: dropped, `answer`
        // says that there is nothing to say.
        guard let entry, let mount, let callback = Callback(rawValue: waiting.call.callback) else { return }
        callback.perform(waiting.call, on: entry, mount, answer)
    }
}

extension Array {
    /// Those that match, and the others, both in their order.
    fileprivate func partitioned(by matches: (Element) -> Bool) -> ([Element], [Element]) {
        (filter(matches), filter { !matches($0) })
    }
}
