import Glibc
import QuireCore

/// A directory on which a drive is to be mounted, checked before anything is changed.
struct Mountpoint: Sendable, Equatable {
    /// Absolute, symlinks resolved.
    let path: String
    /// Whether the directory is still to be made.
    let isMissing: Bool

    /// - Parameters:
    ///   - path: normalized.
    ///   - folders: directories whose files must not become part of the drive through itself: the provider's.
    /// - Throws: `.usage` or `.unavailable`, with nothing changed (a dead mount is taken away, though).
    static func check(_ path: String, location: HomeLocation, folders: [String]) throws(QuireError) -> Mountpoint {
        try replaceDeadMount(at: path)
        let mountpoint = try resolved(path)
        if let entry = MountTable.current().entry(at: mountpoint.path), entry.isDrive {
            throw QuireError(
                .usage, "\(mountpoint.path) is already mounted",
                remedy: "Unmount it with `quire unmount`, or choose another")
        }
        if !mountpoint.isMissing {
            try requireEmptyDirectory(mountpoint.path)
            guard geteuid() == 0 || access(mountpoint.path, W_OK) == 0 else {
                throw QuireError(
                    .notAllowed, "this user may not write to \(mountpoint.path), and users mount only where they may",
                    remedy: "Choose a directory of your own")
            }
        }
        let home = DrivePaths.resolved(location.home)
        for part in ["drive", "data", "staging", "versions"]
        where AbsolutePath.isInside(mountpoint.path, "\(home)/\(part)") {
            throw QuireError(
                .usage, "\(mountpoint.path) is inside the drive's own store (\(home)/\(part))",
                remedy: "Choose a mountpoint elsewhere")
        }
        for inner in [home] + folders.map(DrivePaths.resolved) {
            guard !AbsolutePath.isInside(inner, mountpoint.path) else {
                throw QuireError(
                    .usage, "\(inner) is inside the mountpoint \(mountpoint.path), which would hide it",
                    remedy: "Choose a mountpoint elsewhere")
            }
        }
        for folder in folders.map(DrivePaths.resolved)
        where AbsolutePath.isInside(mountpoint.path, folder) {
            throw QuireError(
                .usage, "\(mountpoint.path) is inside the provider's folder \(folder)",
                remedy: "Choose a mountpoint elsewhere")
        }
        return mountpoint
    }

    /// Makes the directory where it is missing.
    func make() throws(QuireError) {
        guard isMissing, mkdir(path, 0o755) != 0, errno != EEXIST else { return }
        throw Self.failure("cannot make the mountpoint", path)
    }

    private static func resolved(_ path: String) throws(QuireError) -> Mountpoint {
        if let real = DrivePaths.realPath(path) { return Mountpoint(path: real, isMissing: false) }
        guard errno == ENOENT else { throw failure("cannot use the mountpoint", path) }
        guard let slash = path.lastIndex(of: "/"), path.utf8.count > 1 else {
            throw failure("cannot use the mountpoint", path)
        }
        var status = stat()
        guard lstat(path, &status) != 0 else {
            throw QuireError(
                .usage, "\(path) is a symlink that leads nowhere", remedy: "Remove it or choose another mountpoint")
        }
        let parent = slash == path.startIndex ? "/" : String(path[..<slash])
        guard let real = DrivePaths.realPath(parent) else {
            throw QuireError(
                .usage, "the mountpoint \(path) is missing, and so is \(parent)",
                remedy: "Make the directory \(parent) first")
        }
        return Mountpoint(path: (real == "/" ? "" : real) + path[slash...], isMissing: true)
    }

    private static func requireEmptyDirectory(_ path: String) throws(QuireError) {
        guard let directory = opendir(path) else {
            guard errno == ENOTDIR else { throw failure("cannot read the mountpoint", path) }
            throw QuireError(.usage, "\(path) is not a directory", remedy: "Choose another mountpoint")
        }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            guard name == Array(".".utf8) || name == Array("..".utf8) else {
                throw QuireError(
                    .usage, "\(path) is not empty (it has \(DisplayBytes.escaped(name)))",
                    remedy: "Choose an empty directory, or move away what is in it")
            }
        }
    }

    /// Takes away the mount of a daemon that is gone: nothing answers there (ENOTCONN).
    private static func replaceDeadMount(at path: String) throws(QuireError) {
        // The kernel lists the resolved path; a dead mount itself cannot be resolved, its parent can.
        let slash = path.lastIndex(of: "/") ?? path.startIndex
        let parent = DrivePaths.realPath(slash == path.startIndex ? "/" : String(path[..<slash])) ?? ""
        let real = (parent == "/" ? "" : parent) + path[slash...]
        for _ in 0..<16 {
            guard isDead(real) else { return }
            guard MountTable.current().entry(at: real)?.isDrive == true else {
                throw QuireError(
                    .unavailable, "\(real) has a dead mount of another filesystem",
                    remedy: "Take it away with `umount -l \(real)`")
            }
            try detach(real)
        }
    }

    /// The kernel may still list and stat from what it remembers; for the free space it has to ask the daemon that is gone.
    private static func isDead(_ path: String) -> Bool {
        var space = statvfs()
        return statvfs(path, &space) != 0 && (errno == ENOTCONN || errno == ECONNABORTED)
    }

    /// `umount2(2)`'s MNT_DETACH.
    private static let lazily: Int32 = 2

    private static func detach(_ path: String) throws(QuireError) {
        if umount2(path, lazily) == 0 { return }
        let program = Subprocess(path: "fusermount3", arguments: ["-u", "-z", "--", path])
        guard try program.run() == 0 else {
            throw QuireError(
                .unavailable, "\(path) has a dead mount that cannot be taken away",
                remedy: "Run `fusermount3 -uz \(path)` as the user who mounted it")
        }
    }

    private static func failure(_ what: String, _ path: String) -> QuireError {
        QuireError(.unavailable, "\(what) \(path): \(String(cString: strerror(errno)))")
    }
}
