import CFuse
import Glibc
import QuireCore
import QuireStore
import Synchronization

/// Renames of documents that leave their provider: all content must be here then.
extension Driver {
    /// From one container to another: for their providers that is an upload and a deletion, so all content must be here.
    /// Where some is not, EXDEV: `mv` then copies, which brings it here, and removes.
    func renameAcrossContainers(
        _ reply: consuming Reply, _ source: Entry, _ target: Entry, _ flags: CUnsignedInt
    ) {
        switch dataless(source, target, flags) {
        case .success(let documents) where documents.isEmpty: renameInOrder(reply, source, target, flags)
        case .success: reply.error(EXDEV)
        case .failure(let error): reply.error(error.errno)
        }
    }

    /// Whether what is at `source` is kept on this device only once it is at `target`: in the trash, or as an editor's backup.
    /// At the provider that is its deletion.
    func leavesProvider(_ source: Entry, to target: Entry) -> Bool {
        if source.directory === target.directory {
            return Self.ephemeralNames.contains(target.name) && !Self.ephemeralNames.contains(source.name)
        }
        return isLocalOnly(target) && !isLocalOnly(source)
    }

    private func isLocalOnly(_ entry: Entry) -> Bool {
        Self.ephemeralNames.contains(entry.name)
            || table.path(of: entry.directory).map(Self.ephemeralNames.contains) ?? false
    }

    /// Renames once all content is here.
    ///
    /// - Parameter lost: inodes of documents whose content is nowhere: nothing is lost with them.
    func renameWhole(
        _ reply: consuming Reply, _ source: Entry, _ target: Entry, _ flags: CUnsignedInt, lost: Set<UInt64> = []
    ) {
        let absent = dataless(source, target, flags).map { $0.filter { !lost.contains($0.inode) } }
        switch absent {
        case .success(let documents) where documents.isEmpty: renameInOrder(reply, source, target, flags)
        case .success(let documents):
            let content = services.content
            let missing = Lock(lost)
            parking.park(
                reply,
                until: { () async throws(DriverError) in
                    for document in documents {
                        do throws(MaterializeError) {
                            try await content.materialize(path: document.path, inode: document.inode)
                        } catch {
                            if Task.isCancelled { throw DriverError(EINTR) }
                            guard error.errno == ENOENT else { throw DriverError(error.errno) }
                            missing.withLock { _ = $0.insert(document.inode) }
                        }
                    }
                },
                then: { [self] reply in
                    renameWhole(reply, source, target, flags, lost: missing.withLock { $0 })
                })
        case .failure(let error): reply.error(error.errno)
        }
    }

    /// A document whose content is not here.
    private struct AbsentDocument {
        let path: RelativePath
        let inode: UInt64
    }

    /// Those that a rename moves.
    private func dataless(
        _ source: Entry, _ target: Entry, _ flags: CUnsignedInt
    ) -> Result<[AbsentDocument], DriverError> {
        Result { () throws(DriverError) -> [AbsentDocument] in
            let moved = try dataless(at: source)
            return flags & Self.exchange == 0 ? moved : try moved + dataless(at: target)
        }
    }

    /// Those of an entry, or of anything below it.
    private func dataless(at entry: Entry) throws(DriverError) -> [AbsentDocument] {
        guard let directory = table.path(of: entry.directory) else { throw DriverError(ESTALE) }
        var found: [AbsentDocument] = []
        try collectDataless(
            try resolver.directory(entry.directory), entry.name, directory.appending(entry.name), into: &found)
        return found
    }

    private func collectDataless(
        _ directory: Descriptor, _ name: FileName, _ path: RelativePath, into found: inout [AbsentDocument]
    ) throws(DriverError) {
        let status = try StoreCall.status(in: directory, name)
        switch status.st_mode & S_IFMT {
        case S_IFREG:
            guard try isDataless(name, in: directory.raw, status) else { return }
            found.append(AbsentDocument(path: path, inode: status.inode))
        case S_IFDIR:
            let raw = name.withCString { openat(directory.raw, $0, O_RDONLY | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC) }
            guard raw >= 0 else { throw DriverError.last() }
            let below = Descriptor(owning: raw)
            for child in try StoreCall.names(in: below) {
                try collectDataless(below, child, path.appending(child), into: &found)
            }
        default: return
        }
    }
}
