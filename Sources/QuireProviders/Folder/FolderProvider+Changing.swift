import CLinux
import Glibc
package import QuireCore

extension FolderProvider {
    package func setAttributes(
        _ path: RelativePath, _ attributes: RemoteAttributes, expecting version: ProviderVersion
    ) async throws(ProviderError) -> RemoteItem {
        try validate(path)
        return try await perform { (session, cancellation) throws(ProviderError) in
            guard let name = path.name, let parent = try session.parent(of: path) else {
                throw ProviderError.notFound(path)
            }
            // A file stamped with the present moment could be written again without a trace.
            self.waitUntilSettled(attributes.mtime)
            return try FolderLock.withLock(in: session.control, cancellation) { () throws(ProviderError) in
                guard try session.isParent(parent, of: path) else { throw ProviderError.notFound(path) }
                let found = try self.expect(path, name, in: parent, version)
                guard found.kind != .symlink else {
                    return try self.setSymlinkTime(path, name, in: parent, attributes.mtime)
                }
                return try self.setAttributes(path, name, in: parent, attributes, version)
            }
        }
    }

    package func move(
        _ path: RelativePath, to destination: RelativePath, expecting version: ProviderVersion?
    ) async throws(ProviderError) -> RemoteItem {
        try validate(path)
        try validate(destination)
        if destination != path, destination.isInside(path) {
            throw ProviderError(.unsupported, "\(path) cannot be moved into itself")
        }
        return try await perform { (session, cancellation) throws(ProviderError) in
            guard let name = path.name, let source = try session.parent(of: path) else {
                throw ProviderError.notFound(path)
            }
            let target = try Self.place(of: destination, session)
            let from = (directory: source.descriptor, name: name)
            let to = target.entry
            let moved = try FolderLock.withLock(in: session.control, cancellation) { () throws(ProviderError) in
                guard try session.isParent(source, of: path) else { throw ProviderError.notFound(path) }
                guard try session.isParent(target.parent, of: destination) else {
                    throw ProviderError.parentMissing(destination)
                }
                let before = try self.expect(path, name, in: source, version)
                self.hooks.beforeSwap?(path)
                return try ErrnoTranslation.about(path, "moved to \(destination)") { () throws(SystemFailure) in
                    try Self.rename(from, to: to, expecting: before)
                }
            }
            guard moved else { throw ProviderError.refused(path) }
            try self.sync(target.parent, destination)
            try self.sync(source, path)
            guard let item = try self.settledItem(destination, target.name, in: target.parent, session) else {
                throw ProviderError(.failed, "\(destination) was moved away at once by another program")
            }
            return item
        }
    }

    package func delete(_ path: RelativePath, expecting version: ProviderVersion?) async throws(ProviderError) {
        try validate(path)
        try await perform { (session, cancellation) throws(ProviderError) in
            guard let name = path.name, let parent = try session.parent(of: path) else {
                throw ProviderError.notFound(path)
            }
            let (directory, tmp) = (parent.descriptor, session.temporary.descriptor)
            let leftover = try FolderLock.withLock(in: session.control, cancellation) {
                () throws(ProviderError) -> FolderSwap.Leftover in
                guard try session.isParent(parent, of: path) else { throw ProviderError.notFound(path) }
                let found = try self.expect(path, name, in: parent, version)
                guard found.kind != .directory else {
                    try ErrnoTranslation.about(path, "removed") { () throws(SystemFailure) in
                        do throws(SystemFailure) {
                            try SystemCalls.removeDirectory(at: directory, name)
                        } catch {
                            // POSIX allows either for a directory with entries.
                            throw SystemFailure(error.code == EEXIST ? ENOTEMPTY : error.code, error.call)
                        }
                    }
                    return .replaced
                }
                guard let version else { throw ProviderError.refused(path) }
                if found.kind == .file, WriterProbe.hasWriter(at: directory, name) { throw WriterProbe.busy(path) }
                let swap = FolderSwap(
                    path: path, place: (directory, name), temporary: tmp, hooks: self.hooks, versions: self.versions)
                return try ErrnoTranslation.about(path, "removed") { () throws(SystemFailure) in
                    try swap.remove(expected: found, version: version)
                }
            }
            try self.finish(leftover, path, session, directory)
            try self.sync(parent, path)
        }
    }

    /// What is at `name`, if it has `version`; a directory may have any where none is named.
    private func expect(
        _ path: RelativePath, _ name: FileName, in parent: borrowing OpenFile, _ version: ProviderVersion?
    ) throws(ProviderError) -> FileFacts {
        let directory = parent.descriptor
        let found = try ErrnoTranslation.about(path, "read") { () throws(SystemFailure) in
            try SystemCalls.status(at: directory, name)
        }
        guard let found else { throw ProviderError.notFound(path) }
        guard version == nil ? found.kind == .directory : self.versions.version(of: found) == version else {
            throw ProviderError.refused(path)
        }
        return found
    }

    /// Renames to a free name and looks whether it was the expected entry that moved; else moves it back.
    private static func rename(
        _ from: Placement.Place, to: Placement.Place, expecting before: FileFacts
    ) throws(SystemFailure) -> Bool {
        try Placement.intoFreeName(from, to: to)
        guard let after = try SystemCalls.status(at: to.directory, to.name) else { return false }
        if after.kind == .directory ? after.isSameFile(as: before) : after.isSameContent(as: before) { return true }
        do throws(SystemFailure) {
            try Placement.intoFreeName(to, to: from)
        } catch {
            // Its old name is taken again, so it stays under the new one: nothing is lost.
            if error.code != EEXIST { throw error }
        }
        return false
    }

    private func setSymlinkTime(
        _ path: RelativePath, _ name: FileName, in parent: borrowing OpenFile, _ mtime: FileTime
    ) throws(ProviderError) -> RemoteItem {
        let directory = parent.descriptor
        return try ErrnoTranslation.about(path, "changed") { () throws(SystemFailure) in
            try SystemCalls.setTimes(at: directory, name, mtime: mtime)
            let facts = try Self.present(SystemCalls.status(at: directory, name))
            let target = try name.withCString { (text) throws(SystemFailure) in
                try SystemCalls.readSymlink(at: directory, text, size: facts.size)
            }
            return self.versions.item(path, facts, target: target)
        }
    }

    private func setAttributes(
        _ path: RelativePath, _ name: FileName, in parent: borrowing OpenFile, _ attributes: RemoteAttributes,
        _ version: ProviderVersion
    ) throws(ProviderError) -> RemoteItem {
        let directory = parent.descriptor
        let file = try ErrnoTranslation.about(path, "changed") { () throws(SystemFailure) in
            try Self.openForAttributes(name, in: directory)
        }
        let descriptor = file.descriptor
        var item: RemoteItem?
        let outcome = try WriterProbe.withLease(on: descriptor) { () throws(ProviderError) in
            // Compared again on the open file: nobody can write to it now, where the filesystem has leases.
            guard self.versions.version(of: try Self.facts(of: file, path)) == version else {
                throw ProviderError.refused(path)
            }
            item = try ErrnoTranslation.about(path, "changed") { () throws(SystemFailure) in
                // By way of /proc, because a file without read permission is open by path only.
                let link = "/proc/self/fd/\(descriptor)"
                let times = [timespec(attributes.mtime), timespec(attributes.mtime)]
                try SystemCalls.check("chmod") { chmod(link, mode_t(attributes.mode & 0o777)) }
                try SystemCalls.check("utimensat") { utimensat(AT_FDCWD, link, times, 0) }
                return self.versions.item(path, try SystemCalls.status(of: descriptor))
            }
        }
        guard outcome != .writerPresent, let item else { throw WriterProbe.busy(path) }
        return item
    }

    private static func openForAttributes(_ name: FileName, in directory: Int32) throws(SystemFailure) -> OpenFile {
        do throws(SystemFailure) {
            return try SystemCalls.open(at: directory, name, O_RDONLY | O_NONBLOCK)
        } catch {
            guard error.code == EACCES else { throw error }
            return try SystemCalls.open(at: directory, name, quire_O_PATH)
        }
    }
}
