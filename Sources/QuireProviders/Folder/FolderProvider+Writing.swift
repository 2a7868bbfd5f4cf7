import Glibc
import Logging
package import QuireCore

/// Where a write goes.
struct FolderPlace: ~Copyable {
    let parent: OpenFile
    let name: FileName

    /// Valid as long as this is.
    var entry: Placement.Place { (parent.descriptor, name) }
}

extension FolderProvider {
    package func put(
        _ path: RelativePath, content: UploadContent, attributes: RemoteAttributes, expecting: Precondition
    ) async throws(ProviderError) -> RemoteItem {
        try validate(path)
        return try await perform { (session, cancellation) throws(ProviderError) in
            let place = try Self.place(of: path, session)
            try self.refuseEarly(path, place, expecting)
            let facts = try self.staged(session, path, place, expecting, cancellation) {
                (staged) throws(ProviderError) in
                try self.stage(path, content, attributes, as: staged, session, cancellation)
            }
            return self.versions.item(path, facts, checksum: content.checksum)
        }
    }

    package func putSymlink(
        _ path: RelativePath, target: [UInt8], mtime: FileTime, expecting: Precondition
    ) async throws(ProviderError) -> RemoteItem {
        try validate(path)
        return try await perform { (session, cancellation) throws(ProviderError) in
            let place = try Self.place(of: path, session)
            try self.refuseEarly(path, place, expecting)
            let tmp = session.temporary.descriptor
            let facts = try self.staged(session, path, place, expecting, cancellation) {
                (staged) throws(ProviderError) in
                try ErrnoTranslation.about(path, "written") { () throws(SystemFailure) in
                    try SystemCalls.makeSymlink(at: tmp, staged, target: target)
                    try SystemCalls.setTimes(at: tmp, staged, mtime: mtime)
                    return try Self.present(SystemCalls.status(at: tmp, staged))
                }
            }
            return self.versions.item(path, facts, target: target)
        }
    }

    package func createDirectory(
        _ path: RelativePath, attributes: RemoteAttributes
    ) async throws(ProviderError) -> RemoteItem {
        try validate(path)
        return try await perform { (session, cancellation) throws(ProviderError) in
            let place = try Self.place(of: path, session)
            try self.refuseEarly(path, place, .absent)
            let tmp = session.temporary.descriptor
            let facts = try self.staged(session, path, place, .absent, cancellation) {
                (staged) throws(ProviderError) in
                try ErrnoTranslation.about(path, "created") { () throws(SystemFailure) in
                    try SystemCalls.makeDirectory(at: tmp, staged, mode: 0o700)
                    let directory = try SystemCalls.openDirectory(at: tmp, staged)
                    try SystemCalls.setMode(of: directory.descriptor, attributes.mode)
                    try SystemCalls.setTimes(of: directory.descriptor, mtime: attributes.mtime)
                    try SystemCalls.sync(directory.descriptor)
                    return try SystemCalls.status(of: directory.descriptor)
                }
            }
            return self.versions.item(path, facts)
        }
    }

    /// Where a write goes: the open parent directory and the name in it.
    static func place(
        of path: RelativePath, _ session: borrowing FolderSession
    ) throws(ProviderError) -> FolderPlace {
        guard let name = path.name, let parent = try session.parent(of: path) else {
            throw ProviderError.parentMissing(path)
        }
        return FolderPlace(parent: parent, name: name)
    }

    /// Spares the copy where the condition cannot hold. The answer that counts is found under the lock.
    private func refuseEarly(
        _ path: RelativePath, _ place: borrowing FolderPlace, _ expecting: Precondition
    ) throws(ProviderError) {
        let entry = place.entry
        let found = try ErrnoTranslation.about(path, "written") { () throws(SystemFailure) in
            try SystemCalls.status(at: entry.directory, entry.name)
        }
        switch expecting {
        case .absent:
            if found != nil { throw ProviderError(.conditionFailed, "\(path) is already at the provider") }
        case .version(let version):
            guard let found, found.kind != .directory, self.versions.version(of: found) == version else {
                throw ProviderError.refused(path)
            }
        }
    }

    /// Makes an entry in `tmp` by `make`, publishes it at its place, and leaves nothing in `tmp`.
    ///
    /// - Returns: the published entry's facts as they were before any other program could reach it.
    private func staged(
        _ session: borrowing FolderSession, _ path: RelativePath, _ place: borrowing FolderPlace,
        _ expecting: Precondition, _ cancellation: Cancellation,
        make: (FileName) throws(ProviderError) -> FileFacts
    ) throws(ProviderError) -> FileFacts {
        let staged = FolderLayout.stagingName()
        let tmp = session.temporary.descriptor
        do throws(ProviderError) {
            var facts = try make(staged)
            if case .version(let version) = expecting, versions.version(of: facts) == version {
                facts = try later(facts, staged, path, in: tmp)
            }
            waitUntilSettled(facts.mtime)
            try publish(staged, facts, session, path, place, expecting, cancellation)
            try sync(place.parent, path)
            if facts.birth == nil, let now = try? SystemCalls.status(at: place.entry.directory, place.entry.name) {
                // The change time stands in for the birth, and the rename has set it.
                if now.isSameContent(as: facts) { facts = now }
            }
            return facts
        } catch {
            try? SystemCalls.unlink(at: tmp, staged)
            try? SystemCalls.removeDirectory(at: tmp, staged)
            throw error
        }
    }

    /// Stamps a staged file with a later time: where inode numbers do not stay, content of the same size and time would not
    /// be known from the version that it replaces.
    private func later(
        _ facts: FileFacts, _ staged: FileName, _ path: RelativePath, in tmp: Int32
    ) throws(ProviderError) -> FileFacts {
        let time = FileTime(nanoseconds: facts.mtime.nanoseconds &+ max(granularity, versions.timeUnit))
        return try ErrnoTranslation.about(path, "written") { () throws(SystemFailure) in
            try SystemCalls.setTimes(at: tmp, staged, mtime: time)
            if facts.kind == .file {
                let file = try SystemCalls.open(at: tmp, staged, O_RDONLY)
                try SystemCalls.sync(file.descriptor)
            }
            return try Self.present(SystemCalls.status(at: tmp, staged))
        }
    }

    /// Writes `content` to `tmp`, whole and on disk.
    private func stage(
        _ path: RelativePath, _ content: UploadContent, _ attributes: RemoteAttributes, as staged: FileName,
        _ session: borrowing FolderSession, _ cancellation: Cancellation
    ) throws(ProviderError) -> FileFacts {
        let tmp = session.temporary.descriptor
        let source = try ErrnoTranslation.about(path, "uploaded from \(content.snapshotPath)") {
            () throws(SystemFailure) in
            OpenFile(taking: try SystemCalls.check("open") { open(content.snapshotPath, O_RDONLY | O_CLOEXEC) })
        }
        let target = try ErrnoTranslation.about(path, "written") { () throws(SystemFailure) in
            let file = try SystemCalls.open(at: tmp, staged, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
            // Tells a sweep on another device that this is under way.
            _ = flock(file.descriptor, LOCK_EX | LOCK_NB)
            return file
        }
        let copied = try ContentCopy.copy(
            path, from: source.descriptor, to: target.descriptor, expected: content.size.bytes,
            cancellation: cancellation, bandwidth: traffic.up)
        guard copied.size == content.size, copied.checksum == content.checksum else {
            throw ProviderError(.corrupt, "\(path): what arrived in the provider's folder is not what was sent")
        }
        return try ErrnoTranslation.about(path, "written") { () throws(SystemFailure) in
            try SystemCalls.setMode(of: target.descriptor, attributes.mode)
            try SystemCalls.setTimes(of: target.descriptor, mtime: attributes.mtime)
            try SystemCalls.sync(target.descriptor)
            return try SystemCalls.status(of: target.descriptor)
        }
    }

    private func publish(
        _ staged: FileName, _ facts: FileFacts, _ session: borrowing FolderSession, _ path: RelativePath,
        _ target: borrowing FolderPlace, _ expecting: Precondition, _ cancellation: Cancellation
    ) throws(ProviderError) {
        let (tmp, place) = (session.temporary.descriptor, target.entry)
        let leftover = try FolderLock.withLock(in: session.control, cancellation) {
            () throws(ProviderError) -> FolderSwap.Leftover in
            guard try session.isParent(target.parent, of: path) else { throw ProviderError.parentMissing(path) }
            switch expecting {
            case .absent:
                hooks.beforeSwap?(path)
                try ErrnoTranslation.about(path, "written") { () throws(SystemFailure) in
                    try Placement.intoFreeName((tmp, staged), to: place)
                }
                return .replaced
            case .version(let version):
                let swap = FolderSwap(path: path, place: place, temporary: tmp, hooks: hooks, versions: versions)
                let expected = try swap.expected(version)
                return try ErrnoTranslation.about(path, "written") { () throws(SystemFailure) in
                    try swap.replace(expected: expected, version: version, staged: staged, facts: facts)
                }
            }
        }
        try finish(leftover, path, session, place.directory)
    }

    /// Deals with what a swap left in `tmp`, and throws when its condition failed.
    func finish(
        _ leftover: FolderSwap.Leftover, _ path: RelativePath, _ session: borrowing FolderSession, _ directory: Int32
    ) throws(ProviderError) {
        let tmp = session.temporary.descriptor
        switch leftover {
        case .replaced: return
        case .displaced(let name, let facts):
            try ErrnoTranslation.about(path, "written") { () throws(SystemFailure) in try SystemCalls.sync(directory) }
            // Its inode number must not come back with the same birth, or an old version would seem to be back.
            if let birth = facts.birth { waitUntilSettled(birth) }
            try? SystemCalls.unlink(at: tmp, name)
        case .withdrawn(let name):
            try? SystemCalls.unlink(at: tmp, name)
            throw ProviderError.refused(path)
        case .doubtful(let name):
            let kept = try FolderSweep.keep(name, session)
            logger.warning(
                "another program wrote at the same moment; bytes it replaced were kept",
                metadata: ["path": "\(path)", "kept": "\(root)/\(kept)"])
            throw ProviderError.refused(path)
        case .nothing: throw ProviderError.refused(path)
        }
    }

    /// Makes the names in a directory durable.
    func sync(_ directory: borrowing OpenFile, _ path: RelativePath) throws(ProviderError) {
        let descriptor = directory.descriptor
        try ErrnoTranslation.about(path, "written") { () throws(SystemFailure) in try SystemCalls.sync(descriptor) }
    }

    static func present(_ facts: FileFacts?) throws(SystemFailure) -> FileFacts {
        guard let facts else { throw SystemFailure(ENOENT, "statx") }
        return facts
    }
}
