import QuireCore
import Synchronization

/// Hands a claim from the task that waited for it to the operation that needs it.
final class ClaimSlot: Sendable {
    private let claim = Lock<HeldClaim?>(nil)

    func set(_ held: HeldClaim) { claim.withLock { $0 = held } }

    func take() -> HeldClaim? {
        claim.withLock { claim in
            defer { claim = nil }
            return claim
        }
    }
}
