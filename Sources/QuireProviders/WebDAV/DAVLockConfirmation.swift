import QuireCore

/// Looks whether locks are held alone.
///
/// Some servers grant an exclusive lock to two that ask at the same moment, and then remember both, or the later one only.
/// Asked after it was granted, the lock must be there, and no other. Whoever was granted the second of two finds the
/// first one then, or comes after it was let go: so what a change depends on is looked at after that, never before.
///
/// ```
///  A  LOCK ✓ ── locks: A, B ── UNLOCK          … again
///  B     LOCK ✓ ── locks: A, B ── UNLOCK       … again
///  A  LOCK ✓ ── locks: A ── look ── write ── UNLOCK
///  B      LOCK ✓ ─────── locks: A, B ── UNLOCK … again
/// ```
struct DAVLockConfirmation: Sendable {
    let client: DAVClient
    /// None where the server has no locks.
    var locks: [DAVLock] = []

    /// What is said when one is not.
    static let shared = "another device was granted the same lock"

    /// - Throws: `.failed` where one is not.
    func callAsFunction() async throws(ProviderError) {
        guard client.lockNames.areTold else { return }
        for lock in locks {
            guard lock.isAlone(in: try await client.locks(lock.path)) else {
                throw ProviderError(.failed, Self.shared)
            }
        }
    }
}
