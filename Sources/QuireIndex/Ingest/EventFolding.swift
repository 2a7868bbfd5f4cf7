import QuireCore

/// Takes out of a batch what a later event of the same batch says anew.
///
/// A file that is created, written and closed is one row to insert, not one to insert and two to update; a file that is
/// written again and again is updated once.
///
///     created a · content b · content a (open) · content a (closed) · content b  ──▶  arrived a · content b
enum EventFolding {
    /// The same effect in fewer entries, in order.
    static func fold(_ entries: [IngestQueue.Entry]) -> [IngestQueue.Entry] {
        var result: [IngestQueue.Entry] = []
        result.reserveCapacity(entries.count)
        // The last entry of each inode that later ones may be folded into.
        var last: [UInt64: Int] = [:]
        for entry in entries {
            guard case .event(let event) = entry.work else {
                last.removeAll()
                result.append(entry)
                continue
            }
            switch event {
            case .created(_, _, let status):
                last[status.inode] = status.linkCount <= 1 && status.kind == .file ? result.count : nil
                result.append(entry)
            case .contentChanged(let status, let writersOpen):
                if let place = last[status.inode], let folded = Self.fold(result[place], status, writersOpen, entry) {
                    result[place] = folded
                } else {
                    last[status.inode] = result.count
                    result.append(entry)
                }
            case .attributesChanged(let status, _, _):
                last[status.inode] = nil
                result.append(entry)
            case .removed(_, _, let inode):
                last[inode] = nil
                result.append(entry)
            case .renamed(let rename):
                for inode in [rename.status.inode, rename.replaced, rename.exchanged?.inode] {
                    if let inode { last[inode] = nil }
                }
                result.append(entry)
            case .committed, .uploading, .acknowledged, .baseRemoved, .removing, .baseMoved, .counted:
                // What the provider has is compared with the state of that moment.
                last.removeAll()
                result.append(entry)
            }
        }
        return result
    }

    /// `entry` says that content changed; nil when `earlier` must stay.
    private static func fold(
        _ earlier: IngestQueue.Entry, _ status: FileStatus, _ writersOpen: Bool, _ entry: IngestQueue.Entry
    ) -> IngestQueue.Entry? {
        switch earlier.work {
        case .event(.contentChanged(let before, _)) where before.kind == status.kind: entry
        case .event(.created(let parent, let name, let before)), .arrived(let parent, let name, let before):
            before.kind == status.kind && status.linkCount <= 1 && !writersOpen
                ? IngestQueue.Entry(work: .arrived(parent: parent, name: name, status), time: entry.time) : nil
        case .event, .command: nil
        }
    }
}
