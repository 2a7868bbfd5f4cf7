import Foundation
import QuireCore
import QuireTransport
import Synchronization

/// The answer to one call of the daemon: given once. Dropped without one, the answer is that there is nothing to say, so
/// that nobody waits for a callback that forgot to call back.
final class PresenterAnswer: Sendable {
    private let id: RPCIdentifier
    private let peer: RPCPeer
    private let isGiven = Atomic<Bool>(false)

    init(_ id: RPCIdentifier, _ peer: RPCPeer) {
        self.id = id
        self.peer = peer
    }

    deinit { give(.init()) }

    /// Answers; a second answer is ignored.
    func give(_ result: PresenterMethods.Call.Result) {
        if !isGiven.exchange(true, ordering: .relaxed) { peer.answer(id, with: result) }
    }

    /// Answers that the presenter could not.
    func give(_ error: any Error) {
        guard !isGiven.exchange(true, ordering: .relaxed) else { return }
        let known = error as? QuireError ?? QuireError(.failed, error.localizedDescription)
        peer.answer(id, with: RPCError(known))
    }

    /// Answers with an error where there is one.
    func give(_ error: (any Error)?) {
        if let error { give(error) } else { give(.init()) }
    }
}
