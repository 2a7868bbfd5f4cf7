import Glibc
import QuireCommandLine
import QuireCore

/// Understands paths as a person gives them: on the mount, in the store, or relative to the drive's root.
struct DrivePaths: Sendable {
    /// Normalized; nil while the drive is not mounted.
    let mountpoint: String?
    /// The store's directory, normalized: its paths are understood, too.
    let store: String
    let workingDirectory: String
    /// Resolves the symlinks of a directory; nil where it cannot.
    let resolve: @Sendable (String) -> String?

    init(
        mountpoint: String?, store: String, workingDirectory: String,
        resolve: @escaping @Sendable (String) -> String? = DrivePaths.realPath
    ) {
        self.mountpoint = mountpoint
        self.store = store
        self.workingDirectory = workingDirectory
        self.resolve = resolve
    }

    /// The current directory below the drive's root; nil where it lies elsewhere.
    var workingPath: RelativePath? { onDrive(Array(workingDirectory.utf8)) }

    /// The path below the drive's root that an argument means.
    ///
    /// An absolute path lies on the mount. A relative one starts at the current directory where that leads onto the mount,
    /// else at the drive's root. Only the directories of a path are resolved: a symlink named last is meant itself.
    func path(_ argument: String) throws(QuireError) -> RelativePath {
        let bytes = ArgumentBytes.bytes(argument)
        guard bytes.first == UInt8(ascii: "/") else {
            let base = workingPath
            if base == nil, let path = onDrive(Array("\(workingDirectory)/".utf8) + bytes) { return path }
            guard let path = Self.joined((base ?? .root).components, bytes) else {
                throw QuireError(.usage, "\(DisplayBytes.escaped(bytes)) leads out of the drive")
            }
            return path
        }
        guard let path = onDrive(bytes) else {
            let place =
                mountpoint.map { "is not on the drive, which is at \($0)" }
                ?? "is not on the drive, which is not mounted"
            throw QuireError(
                .usage, "\(DisplayBytes.escaped(bytes)) \(place)",
                remedy: "Give a path on it, or one relative to the drive's root")
        }
        return path
    }

    private func onDrive(_ absolute: [UInt8]) -> RelativePath? {
        guard let path = Self.joined([], absolute) else { return nil }
        if let found = below(path) { return found }
        guard let name = path.name, let parent = path.parent,
            let text = String(validating: parent.bytes, as: UTF8.self),
            let real = resolve("/" + text), let directory = RelativePath(parsing: real)
        else { return nil }
        return below(directory.appending(name))
    }

    private func below(_ path: RelativePath) -> RelativePath? {
        for root in [mountpoint, store] {
            guard let root, let prefix = RelativePath(parsing: root) else { continue }
            if let found = path.removing(ancestor: prefix) { return found }
        }
        return nil
    }

    /// Nil where `..` leads above the start, or there is a NUL.
    private static func joined(_ base: [FileName], _ bytes: [UInt8]) -> RelativePath? {
        var names = base
        for part in bytes.split(separator: UInt8(ascii: "/")) where Array(part) != Array(".".utf8) {
            if Array(part) == Array("..".utf8) {
                guard names.popLast() != nil else { return nil }
            } else if let name = FileName(part) {
                names.append(name)
            } else {
                return nil
            }
        }
        return RelativePath(names)
    }

    /// The real path of what is there; of what is not, or cannot be followed, the one that was given.
    static func resolved(_ path: String) -> String { realPath(path) ?? path }

    /// `realpath(3)`.
    static func realPath(_ path: String) -> String? {
        guard let raw = realpath(path, nil) else { return nil }
        defer { free(raw) }
        return String(cString: raw)
    }
}
