import Glibc
import QuireCore

/// The provider's folder, opened for one call.
///
/// Nothing is held open between calls, so that the disk can be unmounted; within one call an unmount is impossible.
struct FolderSession: ~Copyable {
    let root: OpenFile
    let control: OpenFile
    let temporary: OpenFile
    /// Of `.quire/store.json`.
    let marker: FileFacts

    /// - Throws: `.unavailable` when the folder, or the mark that Quire left in it, is not there.
    init(root path: String) throws(ProviderError) {
        let root = try Self.openRoot(path)
        let control = try Self.openControl(of: root, path)
        let marker = try Self.marker(in: control, root: path)
        let temporary = try Self.subdirectory(FolderLayout.temporary, of: control)
        self.root = root
        self.control = control
        self.marker = marker
        self.temporary = temporary
    }

    private static func openControl(of root: borrowing OpenFile, _ path: String) throws(ProviderError) -> OpenFile {
        do throws(SystemFailure) {
            return try SystemCalls.openDirectory(at: root.descriptor, FolderLayout.control)
        } catch {
            throw missing(path, error)
        }
    }

    static func openRoot(_ path: String) throws(ProviderError) -> OpenFile {
        do throws(SystemFailure) {
            return OpenFile(
                taking: try SystemCalls.check("open") { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
        } catch {
            switch error.code {
            case EACCES, EPERM:
                throw ProviderError(
                    .permissionDenied, "the provider's folder \(path) may not be read; check its owner and mode",
                    cause: ErrnoTranslation.text(error.code))
            default:
                throw ProviderError(
                    .unavailable, "the provider's folder \(path) is not there; is the disk mounted?",
                    cause: ErrnoTranslation.text(error.code))
            }
        }
    }

    /// Opens a directory of Quire's own, made when it is missing.
    static func subdirectory(_ name: FileName, of control: borrowing OpenFile) throws(ProviderError) -> OpenFile {
        let directory = control.descriptor
        return try ErrnoTranslation.about(controlPath(name), "opened") { () throws(SystemFailure) in
            do throws(SystemFailure) {
                return try SystemCalls.openDirectory(at: directory, name)
            } catch {
                guard error.code == ENOENT else { throw error }
                do throws(SystemFailure) {
                    try SystemCalls.makeDirectory(at: directory, name, mode: 0o777)
                } catch {
                    if error.code != EEXIST { throw error }
                }
                return try SystemCalls.openDirectory(at: directory, name)
            }
        }
    }

    /// The mark's facts now; a folder that lost it is not the folder it was.
    static func marker(in control: borrowing OpenFile, root: String) throws(ProviderError) -> FileFacts {
        do throws(SystemFailure) {
            if let facts = try SystemCalls.status(at: control.descriptor, FolderLayout.store) { return facts }
        } catch {
            throw missing(root, error)
        }
        throw missing(root, SystemFailure(ENOENT, "statx"))
    }

    /// Checks that the folder still bears the mark it had when the session began.
    ///
    /// - Parameter versions: where inode numbers do not stay, the mark may have another by now.
    func confirmMarker(root path: String, _ versions: FolderVersion) throws(ProviderError) {
        let facts = try Self.marker(in: control, root: path)
        let again = try Self.openRoot(path)
        let still = try ErrnoTranslation.about(.root, "read") { () throws(SystemFailure) in
            try SystemCalls.status(of: again.descriptor).isSameFile(as: SystemCalls.status(of: root.descriptor))
        }
        let isSame = facts.device == marker.device && versions.version(of: facts) == versions.version(of: marker)
        guard versions.inodesStay ? facts.isSameFile(as: marker) : isSame, still else {
            throw Self.missing(path, SystemFailure(ESTALE, "statx"))
        }
    }

    static func missing(_ path: String, _ failure: SystemFailure) -> ProviderError {
        if failure.code == EACCES || failure.code == EPERM {
            return ProviderError(
                .permissionDenied, "\(path)/.quire may not be read; check its owner and mode",
                cause: ErrnoTranslation.text(failure.code))
        }
        return ProviderError(
            .unavailable,
            "the provider's folder \(path) lacks .quire/store.json: the disk is not mounted, or the folder was emptied",
            cause: ErrnoTranslation.text(failure.code), isOtherStore: true)
    }

    /// `.quire/NAME`, for messages.
    static func controlPath(_ name: FileName) -> RelativePath { RelativePath([FolderLayout.control, name]) }

    /// Opens the directory `path`, name by name; nil where it, or one on the way, is missing, is a file, or is a symlink:
    /// that is an item of its own, with nothing below it.
    func directory(_ path: RelativePath) throws(ProviderError) -> OpenFile? {
        var current = try ErrnoTranslation.about(path, "opened") { () throws(SystemFailure) in
            try SystemCalls.duplicate(root.descriptor)
        }
        for name in path.components {
            guard let next = try Self.step(from: current, name, on: path) else { return nil }
            current = next
        }
        return current
    }

    /// The directory that holds `path`; nil as `directory`.
    func parent(of path: RelativePath) throws(ProviderError) -> OpenFile? { try directory(path.parent ?? .root) }

    /// Whether `parent`, opened earlier, still is the directory that holds `path`.
    ///
    /// Asked with the lock held, because another daemon may have moved it while this one waited.
    func isParent(_ parent: borrowing OpenFile, of path: RelativePath) throws(ProviderError) -> Bool {
        guard let now = try self.parent(of: path) else { return false }
        let (one, other) = (parent.descriptor, now.descriptor)
        return try ErrnoTranslation.about(path, "reached") { () throws(SystemFailure) in
            try SystemCalls.status(of: one).isSameFile(as: SystemCalls.status(of: other))
        }
    }

    private static func step(
        from directory: borrowing OpenFile, _ name: FileName, on path: RelativePath
    ) throws(ProviderError) -> OpenFile? {
        let current = directory.descriptor
        do throws(SystemFailure) {
            return try SystemCalls.openDirectory(at: current, name)
        } catch {
            if [ENOENT, ENOTDIR, ELOOP].contains(error.code) { return nil }
            throw ErrnoTranslation.error(error, path, "reached")
        }
    }
}
