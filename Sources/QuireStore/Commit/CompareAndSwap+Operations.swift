import CLinux
import Glibc
import Logging
import QuireCore

/// The one changing step of each operation. What was expected has been found.
extension CompareAndSwap {
    static func install(_ location: borrowing DriveTree.Location, _ site: Site, stagedPath: String, dataless: Bool)
        throws(LocalChangeError) -> CompareAndSwapOutcome
    {
        if site.found?.kind == .directory { return .stale }
        let source = Array(stagedPath.utf8)
        let directory = location.directory.rawValue
        try give(staged: stagedPath, to: try owner(location, site), site)
        try carryAttributes(to: stagedPath, site)
        let before = try site.change.call("look up") { () throws(StoreError) in try location.directory.status() }
        let result =
            site.found == nil
            ? RenameCall.withoutReplace(AT_FDCWD, source, directory, site.name.bytes)
            : RenameCall.replacing(AT_FDCWD, source, directory, site.name.bytes)
        if result != 0 {
            let code = errno
            // Somebody put something there since the look: an entry, or a directory instead of the file.
            if code == EEXIST || code == EISDIR { return .stale }
            throw site.change.failure(code, "install")
        }
        let status = try statusAfter(location, site, was: site.name)
        if let found = site.found, found.isSameDocument(as: status) { restoreTime(of: location.directory, before) }
        return site.done(
            .installed(parent: site.parent, name: site.name, status, dataless: dataless), status: status)
    }

    /// A document that cannot keep its attributes is not evicted. What arrives is worth more than they are.
    private static func carryAttributes(to stagedPath: String, _ site: Site) throws(LocalChangeError) {
        guard let opened = site.opened else { return }
        let hasTags = !(site.change.base?.tags ?? []).isEmpty
        do throws(StoreError) {
            try CarriedAttributes.carry(from: opened, to: stagedPath, hasTags: hasTags)
        } catch {
            if site.change.isEviction { throw site.change.failure(error.errno ?? EIO, "keep the attributes of") }
            Logger(label: "quire.store").info(
                "attributes of a document are lost",
                metadata: ["path": "\(site.change.path)", "error": "\(error)"])
        }
    }

    /// Puts a directory's mtime back when content only came or went: to whoever looks, nothing in it has changed. The
    /// ctime tells.
    ///
    /// Not where somebody has set the mtime since (a rename sets both times to the same). Entries that a program changed
    /// past the daemon between the two looks are not told apart. That it cannot be put back undoes nothing.
    private static func restoreTime(of directory: borrowing OwnedDescriptor, _ before: FileStatus) {
        guard let after = try? directory.status(), after.mtime != before.mtime, after.mtime == after.ctime else {
            return
        }
        let times = [Glibc.timespec(tv_sec: 0, tv_nsec: quire_UTIME_OMIT), before.mtime.timespec]
        _ = utimensat(directory.rawValue, ".", times, 0)
    }

    static func makeDirectory(_ location: borrowing DriveTree.Location, _ site: Site, mode: UInt16, mtime: FileTime)
        throws(LocalChangeError) -> CompareAndSwapOutcome
    {
        let directory = location.directory.rawValue
        guard site.name.withCString({ mkdirat(directory, $0, 0o700) }) == 0 else {
            let code = errno
            if code == EEXIST { return .stale }
            throw site.change.failure(code, "create the directory")
        }
        do {
            try give(directory, site.name, to: try owner(location, site), site)
            try apply(mode: mode, mtime: mtime, location, site)
            let status = try statusAfter(location, site, was: site.name)
            return site.done(.installed(parent: site.parent, name: site.name, status, dataless: false), status: status)
        } catch {
            _ = site.name.withCString { unlinkat(directory, $0, AT_REMOVEDIR) }
            throw error
        }
    }

    static func move(_ location: borrowing DriveTree.Location, _ site: Site, to target: borrowing DriveTree.Location)
        throws(LocalChangeError) -> CompareAndSwapOutcome
    {
        let toParent = try site.change.call("look up") { () throws(StoreError) in try target.directory.status().inode }
        if let within = site.change.within, within != toParent { return .stale }
        let result = RenameCall.withoutReplace(
            location.directory.rawValue, site.name.bytes, target.directory.rawValue, target.name.bytes)
        if result != 0 {
            let code = errno
            if code == EEXIST { return .stale }
            throw site.change.failure(code, "move")
        }
        let status = try statusAfter(target, site, was: target.name)
        return site.done(
            .moved(
                fromParent: site.parent, fromName: site.name, toParent: toParent, toName: target.name, status),
            status: status, destination: toParent)
    }

    static func remove(_ location: borrowing DriveTree.Location, _ site: Site) throws(LocalChangeError)
        -> CompareAndSwapOutcome
    {
        guard let found = site.found else { return .stale }
        let flags = found.kind == .directory ? AT_REMOVEDIR : 0
        guard site.name.withCString({ unlinkat(location.directory.rawValue, $0, flags) }) == 0 else {
            let code = errno
            // Not empty any more, or another kind of item than a moment ago.
            if [ENOTEMPTY, EEXIST, ENOENT, EISDIR, ENOTDIR].contains(code) { return .stale }
            throw site.change.failure(code, "remove")
        }
        return site.done(.removed(parent: site.parent, name: site.name, inode: found.inode), status: nil)
    }

    static func setAttributes(_ location: borrowing DriveTree.Location, _ site: Site, mode: UInt16?, mtime: FileTime)
        throws(LocalChangeError) -> CompareAndSwapOutcome
    {
        try apply(mode: mode, mtime: mtime, location, site)
        let status = try statusAfter(location, site, was: site.name)
        return site.done(.attributes(status), status: status)
    }

    /// Whose a new entry is: the one's that it replaces, else the directory's. Nil where this process can give nothing
    /// away (it is not root) or need not.
    private static func owner(_ location: borrowing DriveTree.Location, _ site: Site) throws(LocalChangeError)
        -> (user: uid_t, group: gid_t)?
    {
        guard geteuid() == 0 else { return nil }
        var status = stat()
        let directory = location.directory.rawValue
        let result =
            site.found == nil
            ? fstat(directory, &status)
            : site.name.withCString { fstatat(directory, $0, &status, AT_SYMLINK_NOFOLLOW) }
        guard result == 0 else { throw site.change.failure(errno, "look up the owner of") }
        return status.st_uid == 0 && status.st_gid == 0 ? nil : (status.st_uid, status.st_gid)
    }

    private static func give(_ directory: Int32, _ name: FileName, to owner: (user: uid_t, group: gid_t)?, _ site: Site)
        throws(LocalChangeError)
    {
        guard let owner else { return }
        let result = name.withCString { fchownat(directory, $0, owner.user, owner.group, AT_SYMLINK_NOFOLLOW) }
        guard result == 0 else { throw site.change.failure(errno, "set the owner of") }
    }

    private static func give(staged path: String, to owner: (user: uid_t, group: gid_t)?, _ site: Site)
        throws(LocalChangeError)
    {
        guard let owner else { return }
        guard lchown(path, owner.user, owner.group) == 0 else {
            throw site.change.failure(errno, "set the owner of")
        }
    }

    /// Sets mode (not of a symlink, which has none) and mtime, both or neither.
    private static func apply(mode: UInt16?, mtime: FileTime, _ location: borrowing DriveTree.Location, _ site: Site)
        throws(LocalChangeError)
    {
        let directory = location.directory.rawValue
        let setsMode = mode != nil && mode != site.found?.mode && site.found?.kind != .symlink
        if let mode, setsMode {
            guard site.name.withCString({ fchmodat(directory, $0, mode_t(mode), AT_SYMLINK_NOFOLLOW) }) == 0 else {
                throw site.change.failure(errno, "set the mode of")
            }
        }
        let times = [Glibc.timespec(tv_sec: 0, tv_nsec: quire_UTIME_OMIT), mtime.timespec]
        guard site.name.withCString({ utimensat(directory, $0, times, AT_SYMLINK_NOFOLLOW) }) == 0 else {
            let code = errno
            if setsMode, let former = site.found?.mode {
                _ = site.name.withCString { fchmodat(directory, $0, mode_t(former), AT_SYMLINK_NOFOLLOW) }
            }
            throw site.change.failure(code, "set the time of")
        }
    }

    /// The entry that was just made; under the caller's lock it is there.
    private static func statusAfter(_ location: borrowing DriveTree.Location, _ site: Site, was name: FileName)
        throws(LocalChangeError) -> FileStatus
    {
        guard
            let status = try site.change.call(
                "look up",
                { () throws(StoreError) in
                    try location.status(shown: site.change.path)
                })
        else { throw site.change.failure(ENOENT, "look up") }
        return status
    }
}

extension FileStatus {
    /// Whether this and `other` are one document's content and its placeholder, whichever of them is which.
    fileprivate func isSameDocument(as other: FileStatus) -> Bool {
        kind == .file && other.kind == .file && size == other.size && mtime == other.mtime
    }
}
