package import QuireCore
import Synchronization

/// What a running query has to tell.
package enum LiveChange: Sendable, Hashable {
    case added
    /// `from`: where the client was told that it lies.
    case changed(from: RelativePath)
    /// `from`: as above.
    case removed(from: RelativePath)
}

/// A query that keeps running: its results, and what was not told yet. Made by `LiveQueries.start`.
package final class LiveQuery: Sendable {
    let query: ItemQuery
    /// An element whenever there is something to take; several may come as one. Ends when the index does.
    package let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    struct Result {
        var path: RelativePath
        /// Of all that a client is told.
        var digest: Int
    }

    private struct Pending {
        var changes: [Int64: LiveChange] = [:]
        /// Items that went before their client was told that they came.
        var untold: Set<Int64> = []
    }

    /// Of whoever evaluates: one piece of work after the other.
    nonisolated(unsafe) var results: [Int64: Result] = [:]
    /// Innermost lock: nothing else is taken while it is held.
    private let pending = Lock(Pending())

    /// What it looks for in content.
    let wordPatterns: [WordPattern]

    init(_ query: ItemQuery) {
        self.query = query
        wordPatterns = query.predicate?.wordPatterns ?? []
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Whether results may come or go when a directory moves.
    var asksForPlaces: Bool { !query.under.isRoot || query.predicate?.asks(for: .path) == true }

    /// Compares an item, nil for one that is gone, with what is known of it.
    func consider(_ id: Int64, _ item: LiveItem?) {
        let isResult = item.map { $0.item.path.isBelow(query.under) && query.matches($0) } ?? false
        switch (results[id], isResult ? item : nil) {
        case (nil, nil): return
        case (nil, let item?):
            results[id] = Result(item)
            note(id, .added)
        case (let known?, let item?):
            let new = Result(item)
            guard new.digest != known.digest else { return }
            results[id] = new
            note(id, .changed(from: known.path))
        case (let known?, nil):
            results[id] = nil
            note(id, .removed(from: known.path))
        }
    }

    private func note(_ id: Int64, _ change: LiveChange) {
        pending.withLock { pending in
            let isUntold = pending.untold.remove(id) != nil
            pending.changes[id] = isUntold ? change.ofUntold : change.after(pending.changes[id])
        }
        signal.yield()
    }

    /// What there is to tell, once.
    package func take() -> [ItemID: LiveChange] {
        let changes = pending.withLock { pending in
            defer { pending.changes = [:] }
            return pending.changes
        }
        return Dictionary(uniqueKeysWithValues: changes.map { (ItemID($0.key), $0.value) })
    }

    /// Taken as added, and gone already.
    package func wasGone(_ id: ItemID) { _ = pending.withLock { $0.untold.insert(id.rawValue) } }

    /// Ended because the index was built anew: what it finds now is to be asked anew.
    package var isOutdated: Bool { outdated.isSet }
    private let outdated = OnceMark()

    func end(isOutdated: Bool = false) {
        if isOutdated { outdated.set() }
        signal.finish()
    }
}

extension LiveChange {
    /// What both are together; nil when nothing is left to tell.
    fileprivate func after(_ earlier: LiveChange?) -> LiveChange? {
        switch (earlier, self) {
        case (nil, _): self
        case (.added?, .removed): nil
        case (.added?, _): .added
        case (.changed(let from)?, .removed): .removed(from: from)
        case (.changed(let from)?, _), (.removed(let from)?, .added), (.removed(let from)?, .changed):
            .changed(from: from)
        case (.removed?, .removed): earlier
        }
    }

    /// The same to a client who does not know the item.
    fileprivate var ofUntold: LiveChange? { if case .removed = self { nil } else { .added } }
}

extension LiveQuery.Result {
    init(_ item: LiveItem) {
        path = item.item.path
        digest = item.digest
    }
}
