import QuireCore
import Synchronization

/// Which store a provider on the network was found to be, and when that was last seen.
///
/// "Nothing is there" is believed only of a store that is there: a server whose disk is not mounted answers so to everything.
final class StorePresence: Sendable {
    /// How long the store's mark need not be looked at again.
    private static let validity = Duration.seconds(5)

    /// How long what was found out about the store is relied on when it is found again. Each way to it that breaks would
    /// else cost some thirty requests, and a store that is full could not be read.
    private static let trust = Duration.seconds(3600)

    private struct State {
        var identity: String?
        var seen: ContinuousClock.Instant?
        var tried: ContinuousClock.Instant?
    }

    private let place: String
    /// Innermost lock.
    private let state = Lock(State())

    /// - Parameter place: where it is, for people.
    init(place: String) { self.place = place }

    /// The store was found and tried, and is in use from now on.
    func found(_ identity: String) { state.withLock { $0 = State(identity: identity, seen: .now, tried: .now) } }

    /// It is not to be used before it was connected anew.
    func lost() { state.withLock { $0 = State() } }

    /// Whether the store that was found again was tried lately: then it is in use again.
    ///
    /// - Parameter found: what it was found to be able to do. That it may lose an update is not relied on: a server that was in
    ///   trouble while it was tried may do better now.
    func isKnown(_ identity: String?, _ found: ProviderCapabilities) -> Bool {
        state.withLock { state in
            guard let identity, identity == state.identity, found.conditionalWrites != .detected,
                let tried = state.tried,
                ContinuousClock.now - tried < Self.trust
            else { return false }
            state.seen = .now
            return true
        }
    }

    /// Every call's beginning.
    ///
    /// - Throws: `.cancelled`; `.unavailable` before the store was found.
    func check() throws(ProviderError) {
        try Self.checkCancelled()
        guard state.withLock({ $0.identity }) != nil else {
            throw ProviderError(.unavailable, "\(place) is not connected")
        }
    }

    static func checkCancelled() throws(ProviderError) { if Task.isCancelled { throw HTTPFailure.cancelled } }

    /// Looks whether the store is there still, unless that was seen a moment ago.
    ///
    /// - Parameters:
    ///   - always: also when it was.
    ///   - read: reads the mark; nil where there is none.
    /// - Throws: `.unavailable` where it is not, or is another; what `read` throws.
    func confirm(
        always: Bool = false, _ read: () async throws(ProviderError) -> StoreMark?
    ) async throws(ProviderError) {
        let (identity, seen) = state.withLock { ($0.identity, $0.seen) }
        if !always, let seen, ContinuousClock.now - seen < Self.validity { return }
        let mark = try await read()
        guard let mark, mark.identity == identity else { throw another(mark) }
        state.withLock { $0.seen = .now }
    }

    /// Another mark, or none, than the one that was expected.
    func another(_ found: StoreMark?) -> ProviderError {
        guard let found else {
            return ProviderError(
                .unavailable,
                "\(place) lacks .quire/store.json: it was emptied, or the disk that it lies on is not mounted",
                isOtherStore: true)
        }
        return ProviderError(
            .unavailable, "another store is at \(place) than the one this drive uses",
            cause: "found \(found.identity)", isOtherStore: true)
    }
}
