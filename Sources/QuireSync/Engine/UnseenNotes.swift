import QuireCore
import Synchronization

/// Why a provider could not tell what is in some places, for the user. All methods may be called from any thread.
final class UnseenNotes: Sendable {
    struct Note: Sendable, Hashable {
        var reason: String
        /// When that was told first.
        var since: FileTime
    }

    /// Innermost lock: nothing else is taken while it is held.
    private let notes = Lock<[RelativePath: Note]>([:])

    /// By the container's paths.
    var all: [RelativePath: Note] { notes.withLock { $0 } }

    /// The one that a path lies in; nil where that may be seen.
    func place(of path: RelativePath) -> RelativePath? {
        notes.withLock { notes in notes.isEmpty ? nil : notes.keys.first { path.isInside($0) } }
    }

    /// The provider told all that it has.
    func set(_ told: [RemoteItem], now: FileTime) {
        notes.withLock { notes in
            var found: [RelativePath: Note] = [:]
            Self.note(told, in: &found, knowing: notes, now)
            notes = found
        }
    }

    /// The provider told what changed.
    func add(_ told: [RemoteItem], _ removed: [RelativePath], now: FileTime) {
        notes.withLock { notes in
            let known = notes
            if !known.isEmpty {
                let gone = Set(removed)
                for item in told where item.unseen == nil { notes[item.path] = nil }
                notes = notes.filter { !$0.key.isInside(anyOf: gone) }
            }
            Self.note(told, in: &notes, knowing: known, now)
        }
    }

    private static func note(
        _ told: [RemoteItem], in notes: inout [RelativePath: Note], knowing known: [RelativePath: Note], _ now: FileTime
    ) {
        for item in told {
            guard let reason = item.unseen else { continue }
            notes[item.path] = Note(reason: reason, since: known[item.path]?.since ?? now)
        }
    }
}
