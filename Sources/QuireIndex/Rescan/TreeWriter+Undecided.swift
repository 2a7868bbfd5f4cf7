import GRDB
import QuireCore

/// What lies where a placeholder was.
extension TreeWriter {
    /// Decides what could not be told before all directories were listed. A placeholder that was moved has its row with it by
    /// now; what replaces one that was found nowhere is the document's new content.
    mutating func decide(_ rescan: inout Rescan, _ lister: StoreLister) throws {
        try followMarks(&rescan, lister)
        let undecided = rescan.undecided.sorted { $0.key < $1.key }
        rescan.undecided = [:]
        rescan.isDeciding = true
        defer { rescan.isDeciding = false }
        for (id, names) in undecided {
            // Another directory is there, or none: an event tells of it, or has told.
            guard let row = try row(id), let path = try path(of: row), case .entry(let status) = placeInStore(path),
                status.inode == row.local.inode
            else { continue }
            try decide(names, in: row, path, &rescan, lister)
        }
    }

    private mutating func decide(
        _ names: [[UInt8]], in row: ItemRow, _ path: RelativePath, _ rescan: inout Rescan, _ lister: StoreLister
    ) throws {
        var entries: [StoreLister.Entry] = []
        for name in names {
            let place = path.appending(FileName(unchecked: name))
            switch placeInStore(place) {
            case .entry(let status): entries.append(StoreLister.Entry(name: name, status: status))
            case .unknown(let errno): rescan.note(unread: place, in: row.id, errno, now)
            case .nothing:
                guard let gone = try self.row(in: row.id, name) else { continue }
                rescan.missing.append(Rescan.Missing(id: gone.id, parent: gone.parent, name: gone.name))
            }
        }
        let (moved, unclear) = try followMoves(entries, to: row, try known(entries, in: row.id), path, &rescan, lister)
        _ = try compare(
            entries, in: row, path, try known(entries, in: row.id), moved: moved, unclear: unclear, &rescan, lister)
    }

    /// The rows at the places of entries.
    private func known(_ entries: [StoreLister.Entry], in directory: Int64) throws -> [[UInt8]: ItemRow] {
        var known: [[UInt8]: ItemRow] = [:]
        for entry in entries { known[entry.name] = try row(in: directory, entry.name) }
        return known
    }
}
