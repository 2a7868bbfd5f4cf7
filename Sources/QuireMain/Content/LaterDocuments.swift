import QuireCore
import QuireIndex
import Synchronization

/// Documents that could not be read for a reason that may pass. They wait apart, so that none of them keeps another waiting.
///
/// A few at a time are tried again after pauses, which grow until one of them can be read: the reason may be one for all. Each
/// is left alone for twice as long with each time that it could not be read, until it is another: some may never be. Those that
/// were tried least go first.
final class LaterDocuments: Sendable {
    private struct Entry {
        var document: ContentDocument
        /// How often it could not be read.
        var attempts = 0
        /// Which it is of all that ever waited.
        var number = 0
        var notBefore = Duration.zero

        /// Whether it fails for long: what others are tried for says nothing of it.
        var isGivenUp: Bool { LaterDocuments.rest(attempts) > LaterDocuments.pauses.longest }
    }

    private struct State {
        var waiting: [ItemID: Entry] = [:]
        /// Those that are tried again now.
        var tried: [ItemID: Entry] = [:]
        var count = 0
        var pause = LaterDocuments.pauses.first
    }

    private static let pauses: (first: Duration, longest: Duration) = (.seconds(1), .seconds(60))
    /// Most that one document is left alone.
    private static let longestRest = Duration.seconds(3600)

    // Innermost lock: the signal is given outside.
    private let state = Lock(State())
    /// An element whenever there are some that wait; several may come as one.
    let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    init() { (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    /// How long those that wait are left alone, at least.
    var pause: Duration { state.withLock { $0.pause } }

    /// How long a document is left alone that could not be read so often.
    private static func rest(_ attempts: Int) -> Duration {
        min(.seconds(1 << min(max(attempts, 1) - 1, 12)), longestRest)
    }

    /// Notes which of the documents that were to be read are left.
    ///
    /// - Parameter now: by the monotonic clock.
    func note(
        _ documents: [ContentDocument], left: [ContentDocument], now: Duration = .nanoseconds(MonotonicClock.now())
    ) {
        let isWaiting = state.withLock { state in
            let failed = Set(left.map(\.id))
            let tried = documents.filter { state.tried[$0.id] != nil }
            let isFirst =
                !failed.isEmpty && state.waiting.values.allSatisfy(\.isGivenUp)
                && !failed.contains { state.tried[$0] != nil }
            if isFirst || tried.contains(where: { !failed.contains($0.id) }) { state.pause = Self.pauses.first }
            let before = state.tried
            for document in tried { state.tried[document.id] = nil }
            for document in documents where !failed.contains(document.id) { state.waiting[document.id] = nil }
            for document in left {
                let known = before[document.id] ?? state.waiting[document.id]
                state.count += 1
                var entry = Entry(document: document, number: state.count)
                if let known, known.document == document {
                    (entry.attempts, entry.number) = (known.attempts, known.number)
                }
                // One that waits still was told twice.
                if state.waiting[document.id]?.document != document {
                    entry.attempts += 1
                    entry.notBefore = now + Self.rest(entry.attempts)
                    state.waiting[document.id] = entry
                }
            }
            return !state.waiting.isEmpty
        }
        if isWaiting { signal.yield() }
    }

    /// The next ones to be tried again, `limit` at most, which wait no longer.
    ///
    /// - Parameter now: by the monotonic clock.
    func take(_ limit: Int, now: Duration = .nanoseconds(MonotonicClock.now())) -> [ContentDocument] {
        let (taken, isWaiting) = state.withLock { state in
            let due = state.waiting.values.filter { $0.notBefore <= now }
                .sorted { ($0.attempts, $0.number) < ($1.attempts, $1.number) }.prefix(limit)
            for entry in due { state.waiting[entry.document.id] = nil }
            if !due.isEmpty {
                state.tried = Dictionary(due.map { ($0.document.id, $0) }, uniquingKeysWith: { first, _ in first })
                state.pause = min(state.pause * 2, Self.pauses.longest)
            }
            return (due.map(\.document), !state.waiting.isEmpty)
        }
        if isWaiting { signal.yield() }
        return taken
    }
}
