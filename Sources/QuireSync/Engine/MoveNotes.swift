import FoundationEssentials
import Logging
import QuireCore

/// Moves of which a daemon, or a machine, that ends in the middle leaves no other trace, written down before they are asked for:
///
/// - to a name between two places (`TransitName`): where a provider has no identifiers, nothing tells the next daemon whose
///   document has such a name;
/// - of a document by a copy and a deletion: both names have it in between, and neither tells that it is the other.
///
/// Moves are made one after the other, so that the last of them are enough.
struct MoveNotes: Sendable {
    let context: SyncContext

    private struct Note: Codable {
        var item: ItemID
        var from: WirePath
        var to: WirePath
    }

    private var key: String { "moves.\(context.container.id)" }

    /// What was asked for before, and is not known yet, is among the open moves of this daemon, too.
    private static let most = 64

    /// Whether a move is to be noted.
    func isNeeded(_ base: BaseRecord, to: RelativePath) -> Bool {
        let isByCopy = base.kind == .file && !context.provider.capabilities.directoryMoves
        return isByCopy || to.name.map(TransitName.matches) == true
    }

    /// Notes that an item is about to be moved.
    func insert(_ item: ItemID, from: RelativePath, to: RelativePath) async throws(SyncFailure) {
        do {
            let notes = try await notes() ?? []
            let note = Note(item: item, from: WirePath(from), to: WirePath(to))
            try await write(notes.suffix(Self.most - 1) + [note], durably: true)
        } catch {
            throw SyncFailure(.later, "\(error)")
        }
    }

    /// Takes back what was noted of a move that the provider has refused: it did not happen.
    func remove(_ item: ItemID, to: RelativePath) async {
        do {
            guard let notes = try await notes() else { return }
            try await write(notes.filter { $0.item != item || $0.to.path != to })
        } catch {
            // It is found out with the next round.
            context.logger.info("a note of a move stays", metadata: ["error": "\(error)"])
        }
    }

    private func write(_ notes: [Note], durably: Bool = false) async throws {
        let data = try JSONEncoder().encode(notes)
        try await context.index.setValue(key, String(decoding: data, as: UTF8.self), durably: durably)
    }

    /// Opens the moves of which the answer is not known.
    ///
    /// - Returns: whether anything was noted.
    func read() async throws -> Bool {
        guard let notes = try await notes() else { return false }
        // Answers that came may be on their way into the index.
        try await context.index.settle()
        let known = Set(context.openMoves.all.map(\.to))
        for note in notes where !known.contains(note.to.path) {
            let (from, to) = (note.from.path, note.to.path)
            guard let base = try await base(of: note) else { continue }
            context.openMoves.reopen(
                OpenMove(item: note.item, from: from, to: to, base: base, since: context.clock.now()))
        }
        return true
    }

    /// What was moved, as it was before; also where it was removed here since, or moved into another container.
    private func base(of note: Note) async throws -> BaseRecord? {
        let from = note.from.path
        if let item = try await context.index.item(note.item), let base = item.base {
            return base.path == from && base.container == context.container.id ? base : nil
        }
        let base = try await context.index.base(context.container.id, root: context.container.root, at: from)
        return base?.local == nil ? base?.record : nil
    }

    /// All that was noted is found out.
    func clear() async throws { try await context.index.setValue(key, nil) }

    /// Nil where there are none; what cannot be read says nothing.
    private func notes() async throws -> [Note]? {
        guard let text = try await context.index.value(key) else { return nil }
        return (try? JSONDecoder().decode([Note].self, from: Data(text.utf8))) ?? []
    }
}
