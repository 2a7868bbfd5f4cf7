import QuireCore
import Synchronization

/// Whether documents of some size go to a store with one request, which is quick, or in parts, of which a cut loses one only.
///
/// They go with one until such a request is cut, or takes `patience`; then in parts, for an hour.
final class S3Haste: Sendable {
    /// Most that a request with a large document may take: what is sent in that time may have to be sent again.
    static let patience = Duration.seconds(30)
    private static let memory = Duration.seconds(3600)

    /// Innermost lock.
    private let slowUntil = Lock<ContinuousClock.Instant?>(nil)

    var isSlow: Bool { slowUntil.withLock { $0.map { ContinuousClock.now < $0 } ?? false } }

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

    func noteSlow() { slowUntil.withLock { $0 = ContinuousClock.now + Self.memory } }
}
