import QuireCore
import QuireIndex
import Synchronization

/// Documents that could not be read for a reason that may pass. They wait apart, so that none of them keeps another waiting,
/// and are tried again a few at a time after pauses, which grow until one of them can be read.
final class LaterDocuments: Sendable {
    private struct State {
        /// Those that wait the longest first, each once.
        var waiting: [ContentDocument] = []
        var known: Set<ItemID> = []
        /// Those that are tried again now.
        var tried: Set<ItemID> = []
        var pause = LaterDocuments.pauses.first
    }

    private static let pauses: (first: Duration, longest: Duration) = (.seconds(1), .seconds(60))

    // Innermost lock: the signal is given outside.
    private let state = Lock(State())
    /// An element whenever there are some that wait; several may come as one.
    let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    init() { (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    /// How long those that wait are left alone.
    var pause: Duration { state.withLock { $0.pause } }

    /// Notes which of the documents that were to be read are left.
    func note(_ documents: [ContentDocument], left: [ContentDocument]) {
        let isWaiting = state.withLock { state in
            let failed = Set(left.map(\.id))
            let tried = documents.filter { state.tried.contains($0.id) }
            let isFirst = !failed.isEmpty && state.waiting.isEmpty && failed.isDisjoint(with: state.tried)
            if isFirst || tried.contains(where: { !failed.contains($0.id) }) { state.pause = Self.pauses.first }
            state.tried.subtract(tried.map(\.id))
            for document in left where state.known.insert(document.id).inserted { state.waiting.append(document) }
            return !state.waiting.isEmpty
        }
        if isWaiting { signal.yield() }
    }

    /// The next ones to be tried again, `limit` at most, which wait no longer.
    func take(_ limit: Int) -> [ContentDocument] {
        let (taken, isWaiting) = state.withLock { state in
            let taken = Array(state.waiting.prefix(limit))
            state.waiting.removeFirst(taken.count)
            state.tried = Set(taken.map(\.id))
            state.known.subtract(state.tried)
            state.pause = min(state.pause * 2, Self.pauses.longest)
            return (taken, !state.waiting.isEmpty)
        }
        if isWaiting { signal.yield() }
        return taken
    }
}
