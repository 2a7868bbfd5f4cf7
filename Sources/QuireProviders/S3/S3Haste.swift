import QuireCore
import Synchronization

/// Whether documents of some size go to a store with one request, which is quick, or in parts, of which a cut loses one only.
///
/// They go with one until such a request is cut, or takes `patience`; then in parts, for an hour. What was begun in parts and
/// not published goes on in parts, whoever began it: the store remembers that, and this for as long as the daemon runs.
final class S3Haste: Sendable {
    /// Most that a request with a large document may take: what is sent in that time may have to be sent again.
    static let patience = Duration.seconds(30)
    private static let memory = Duration.seconds(3600)

    private struct State {
        var slowUntil: ContinuousClock.Instant?
        /// Keys of what was begun; nil where the store was not asked, or did not tell.
        var begun: Set<[UInt8]>?
    }

    /// Innermost lock.
    private let state = Lock(State())

    var isSlow: Bool { state.withLock { $0.slowUntil.map { ContinuousClock.now < $0 } ?? false } }

    /// Runs a request with a large document.
    ///
    /// - Returns: nil where it took too long.
    /// - Throws: what `request` throws otherwise.
    func attempt(
        _ request: (_ limit: Duration) async throws(ProviderError) -> HTTPAnswer
    ) async throws(ProviderError) -> HTTPAnswer? {
        let start = ContinuousClock.now
        do {
            return try await request(Self.patience)
        } catch {
            guard error.code == .unavailable else { throw error }
            noteSlow()
            if ContinuousClock.now - start < Self.patience { throw error }
            return nil
        }
    }

    func noteSlow() { state.withLock { $0.slowUntil = ContinuousClock.now + Self.memory } }

    /// - Parameter keys: of all that is begun at the store; nil where it did not tell.
    func found(begun keys: Set<[UInt8]>?) { state.withLock { $0.begun = keys } }

    /// Whether what is to be sent in parts to `key` was begun; nil where only the store knows.
    func isBegun(_ key: [UInt8]) -> Bool? { state.withLock { $0.begun?.contains(key) } }

    func begins(_ key: [UInt8]) { state.withLock { _ = $0.begun?.insert(key) } }

    /// It was published, or is of no use.
    func ended(_ key: [UInt8]) { state.withLock { _ = $0.begun?.remove(key) } }
}
