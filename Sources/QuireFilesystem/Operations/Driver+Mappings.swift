import CFuse
import Glibc
import QuireCore

/// Documents that are written by mappings after they were closed.
extension Driver {
    /// The last handle of a file was closed; one that could map it had written.
    func watch(_ file: LingeringMappings.Mapped) { mappings.watch(file) { [weak self] in self?.lookAtMappings() } }

    /// - Returns: whether there is more to watch.
    private func lookAtMappings() -> Bool {
        // Alone in the gate: nobody opens one of them meanwhile.
        gate.exclusive { () -> Bool in
            let (turns, goesOn) = mappings.look { file in
                let isOpen = table.locked { state in (state.byInode[file.inode]?.writers ?? 0) > 0 }
                return isOpen ? nil : file.mayBeWritten
            }
            for turn in turns {
                switch turn {
                case .began(let file), .ended(let file): tellContent(of: file, always: true)
                }
            }
            return goesOn
        }
    }

    /// Records what was written by mappings until now. From any thread, with no lock held.
    func reportMappings() {
        guard !mappings.files.isEmpty else { return }
        _ = lookAtMappings()
        for file in mappings.files { gate.shared { tellContent(of: file, always: false) } }
    }

    /// Records that a file was written by a mapping, or may have been. Call inside the gate.
    ///
    /// - Parameter always: also where the times are as they were: a store into a page that is dirty already changes none.
    private func tellContent(of file: LingeringMappings.Mapped, always: Bool) {
        let node = table.locked { state -> Node? in
            let node = state.byInode[file.inode]
            guard let found = try? StoreCall.status(of: file.descriptor), found.st_nlink > 0 else { return nil }
            let status = FileStatus(found)
            guard mappings.note(status.fingerprint, of: file.inode) || always else { return nil }
            let writersOpen = (node?.writers ?? 0) > 0 || mappings.contains(file.inode)
            record(.contentChanged(status, writersOpen: writersOpen))
            return node
        }
        if let node { tellChange(node, nil, 0) }
    }
}
