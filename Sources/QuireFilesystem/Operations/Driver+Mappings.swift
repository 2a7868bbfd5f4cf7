import CFuse
import Glibc
import Logging
import QuireCore
import Synchronization

/// Documents that are written by mappings after they were closed.
extension Driver {
    /// So many are looked at while nobody else changes anything.
    private static let slice = 64

    /// The last handle of a file was closed; one that could map it had written.
    func watch(_ file: LingeringMappings.Mapped) {
        let isWatched = table.mappings.watch(file) { [weak self] in
            self?.lookAtMappings()
            return self != nil
        }
        guard !isWatched, !tooManyMappings.exchange(true, ordering: .relaxed) else { return }
        logger.warning(
            "too many files are mapped after they were closed: of some it is not noticed what is stored then")
    }

    /// Records what was written by mappings until now. From any thread, with no lock held.
    func lookAtMappings() {
        // What is watched no more is closed here in the end, outside of the gate.
        let files = table.mappings.files
        var rest = files[...]
        while !rest.isEmpty {
            var changed: [Node] = []
            // Nobody opens one of them meanwhile.
            gate.exclusive { for file in rest.prefix(Self.slice) { look(at: file, &changed) } }
            for node in changed {
                notifier.attributesChanged(table.identifier(node))
                tellChange(node, nil, 0)
            }
            rest = rest.dropFirst(Self.slice)
        }
        guard let closer = table.closer else { return }
        for file in files where (try? StoreCall.status(of: file.descriptor))?.st_nlink == 0 {
            closer.close(file.descriptor)
        }
    }

    /// Alone in the gate.
    private func look(at file: LingeringMappings.Mapped, _ changed: inout [Node]) {
        // Whoever has it open for writing tells of it; it is looked at again once that is closed.
        let hasWriters = table.locked { state in (state.byInode[file.inode]?.writers ?? 0) > 0 }
        if hasWriters { return }
        let mayBeWritten = file.mayBeWritten
        let node = table.locked { state -> Node? in
            guard let verdict = table.mappings.note(file, mayBeWritten: mayBeWritten),
                let found = try? StoreCall.status(of: file.descriptor), found.st_nlink > 0
            else { return nil }
            let status = FileStatus(found)
            guard verdict != .told(status.fingerprint) else { return nil }
            table.mappings.noteTold(status.fingerprint, of: file)
            let node = state.byInode[file.inode]
            node?.pagesMayBeStale = true
            let writersOpen = table.mappings.contains(file.inode)
            record(.contentChanged(status, writersOpen: writersOpen))
            return node
        }
        if let node { changed.append(node) }
    }
}
