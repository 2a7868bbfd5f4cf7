import QuireCommandLine
import QuireCore
import Synchronization

/// What a running query tells, as lines.
final class LiveLines: Sendable {
    private let json: Bool
    private let null: Bool

    private struct State {
        /// Where what was told lies.
        var known: Set<RelativePath> = []
        /// Of those, what was not found again yet, while all is asked for anew.
        var missing: Set<RelativePath>?
        var hasGathered = false
        /// How often all was asked for anew since it was last told to its end.
        var attempts = 0
    }

    private static let attempts = 3

    /// Innermost lock; lines are written outside.
    private let state = Lock(State())

    init(json: Bool, null: Bool) {
        self.json = json
        self.null = null
    }

    /// A line of `--json`.
    private struct Line: Encodable {
        var change: String
        var path: WirePath
        var item: ItemStatus?
    }

    /// What is told next is all that there is once more: only what differs is shown.
    ///
    /// - Returns: false where not even the first was told to its end, or several since were not.
    func gatherAnew() -> Bool {
        state.withLock { state in
            state.missing = state.known
            state.attempts += 1
            return state.hasGathered && state.attempts <= Self.attempts
        }
    }

    func show(_ update: QueryMethods.Update) {
        for removal in update.removed ?? [] { show("-", removal.path, nil) }
        for change in update.changed ?? [] {
            let path = change.item.status.path
            // Whoever keeps a list of paths needs both.
            if change.from != path { show("-", change.from, nil) }
            show(change.from == path ? "~" : "+", path, change.item.status)
        }
        for item in update.added ?? [] where !isShown(item.status.path.path) {
            show("+", item.status.path, item.status)
        }
        if update.gathered != nil { endGathering() }
    }

    /// Whether the lines have it already.
    private func isShown(_ path: RelativePath) -> Bool { state.withLock { $0.missing?.remove(path) != nil } }

    private func endGathering() {
        let gone = state.withLock { state in
            state.hasGathered = true
            state.attempts = 0
            defer { state.missing = nil }
            return state.missing ?? []
        }
        for path in gone.sorted(by: { $0.bytes.lexicographicallyPrecedes($1.bytes) }) { show("-", WirePath(path), nil) }
    }

    private func show(_ change: String, _ path: WirePath, _ item: ItemStatus?) {
        state.withLock { state in
            if change == "-" { state.known.remove(path.path) } else { state.known.insert(path.path) }
        }
        // A status always has a form in JSON: it came as such.
        if json { return (try? Output.json(Line(change: change, path: path, item: item))) ?? () }
        let bytes = path.path.bytes
        Output.write(
            null ? Array("\(change) ".utf8) + bytes + [0] : Array("\(change) \(DisplayBytes.escaped(bytes))\n".utf8))
    }
}
