import QuireCore
import Synchronization

/// Carries a reply into work that happens later; whoever takes it first answers.
final class ReplyBox: Sendable {
    private let reply: Lock<Reply?>

    init(_ reply: consuming Reply) { self.reply = Lock(reply) }

    /// The reply, once.
    func take() -> Reply? { reply.withLock { $0.take() } }
}
