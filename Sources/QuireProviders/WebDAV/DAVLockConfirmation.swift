import QuireCore

/// Looks whether locks are held alone.
///
/// Some servers grant an exclusive lock to two that ask at the same moment, and then remember both, or the later one only.
/// Asked a moment after it was granted, the lock must be there, and no other.
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
            guard try await client.locks(lock.path).map(\.token) == [lock.token] else {
                throw ProviderError(.failed, Self.shared)
            }
        }
    }
}
