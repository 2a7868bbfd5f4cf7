import QuireCore

/// Renews locks while something is done under them.
///
/// ```
///  granted ── renewal ── ✓ ── renewal ── ✗ ─ retry ─ ✗ ─ retry ─ ✗ …      lost       ends
///                        └────────────────────── life ───────────────────────┘         │
///                        └──────────────────────── DAVLock.seconds ────────────────────┘
/// ```
struct DAVLockKeeper {
    let client: DAVClient
    let locks: [DAVLock]
    /// What is changed under them, for people.
    let item: RelativePath

    /// What a server says to who renews a lock that is not there any more, or is another's by now: the RFC has 412
    /// (RFC 4918 §9.10.2), and servers differ.
    private static let gone: Set<Int> = [400, 404, 409, 410, 412, 423]

    /// Returns when the task is cancelled.
    ///
    /// - Throws: `.failed` once a lock is not held any more, or may soon be another's.
    func run() async throws(ProviderError) {
        var held = locks.map(\.since)
        var wait = Duration.zero
        while let oldest = held.min() {
            wait = max(wait, oldest + client.lockRhythm.renewal - .now)
            guard (try? await Task.sleep(for: wait)) != nil else { return }
            wait = .zero
            for (index, lock) in locks.enumerated() {
                let asked = ContinuousClock.now
                if try await isRenewed(lock, before: held.reduce(asked, min) + client.lockRhythm.life) {
                    held[index] = asked
                } else {
                    wait = client.lockRhythm.retry
                }
                if Task.isCancelled { return }
            }
        }
    }

    private func isRenewed(_ lock: DAVLock, before end: ContinuousClock.Instant) async throws(ProviderError) -> Bool {
        let left = end - .now
        guard left > .zero else { throw lost("the server did not renew it in time") }
        let answer: HTTPAnswer
        do throws(ProviderError) {
            answer = try await client.refresh(lock, within: min(left, client.lockRhythm.patience))
        } catch {
            // Tried again, while there is time.
            return false
        }
        guard !Self.gone.contains(answer.status) else { throw lost("the server says \(answer.status)") }
        return answer.isSuccess
    }

    private func lost(_ cause: String) -> ProviderError {
        ProviderError(
            .failed, "\(item) cannot be changed: the lock was lost while it was done; it is tried again", cause: cause)
    }
}
