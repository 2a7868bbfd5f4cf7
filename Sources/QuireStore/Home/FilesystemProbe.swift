import CLinux
import Glibc

/// Finds out by trying what the filesystem of a home can do. Each answer is 0 or an errno.
package struct FilesystemProbe: Sendable {
    /// Sets and reads an extended attribute in the `user.` namespace on a file made in `directory`.
    package var userAttributes: @Sendable (_ directory: String) -> Int32
    /// Renames a file in `directory` with RENAME_NOREPLACE, to a free name and to a taken one.
    package var renameWithoutReplace: @Sendable (_ directory: String) -> Int32
    /// Whether a rename from one directory into the other can work; leaves both as they are. EXDEV when not.
    package var renameAcross: @Sendable (_ from: String, _ to: String) -> Int32

    package init(
        userAttributes: @escaping @Sendable (_ directory: String) -> Int32,
        renameWithoutReplace: @escaping @Sendable (_ directory: String) -> Int32,
        renameAcross: @escaping @Sendable (_ from: String, _ to: String) -> Int32
    ) {
        self.userAttributes = userAttributes
        self.renameWithoutReplace = renameWithoutReplace
        self.renameAcross = renameAcross
    }

    /// Tries for real.
    package static let system = FilesystemProbe(
        userAttributes: { directory in
            answer { () throws(StoreError) in
                let file = try Staging(path: directory).createFile("probe")
                let value = Array("quire".utf8)
                try file.descriptor.setAttribute("user.quire.probe", value, directory)
                guard try file.descriptor.attribute("user.quire.probe", directory) == value else {
                    throw StoreError(errno: EOPNOTSUPP, "read an attribute in", directory)
                }
            }
        },
        renameWithoutReplace: { directory in
            answer { () throws(StoreError) in
                let staging = Staging(path: directory)
                let first = try staging.createFile("probe")
                let second = try staging.createFile("probe")
                let taken = quire_renameat2(AT_FDCWD, first.path, AT_FDCWD, second.path, quire_RENAME_NOREPLACE)
                if taken == 0 { throw StoreError(errno: EINVAL, "refuse a rename in", directory) }
                if errno != EEXIST { throw StoreError(errno: errno, "rename in", directory) }
                let free = staging.uniquePath("probe")
                try systemCall("rename in", directory) {
                    quire_renameat2(AT_FDCWD, first.path, AT_FDCWD, free, quire_RENAME_NOREPLACE)
                }
                staging.discard(free)
            }
        },
        renameAcross: { from, to in
            answer { () throws(StoreError) in
                let file = try Staging(path: from).createFile("probe")
                // The kernel looks whether both are on one mount before it refuses "." as a name.
                if rename(file.path, to + "/.") != 0, errno == EXDEV {
                    throw StoreError(errno: EXDEV, "rename into", to)
                }
            }
        })

    private static func answer(_ body: () throws(StoreError) -> Void) -> Int32 {
        do {
            try body()
            return 0
        } catch {
            return error.errno ?? EIO
        }
    }
}

extension DriveHome {
    /// Refuses a home whose filesystem cannot hold a store; the layout must be there.
    ///
    /// Needed are user extended attributes (placeholders are marked by one), rename without replacing (no edit may be
    /// overwritten), and one filesystem for store, staging and versions (what is staged is renamed in).
    /// - Throws: `.unsuitableFilesystem`, saying which and what to do; `.noSpace` and `.permissionDenied` when the
    ///   probe cannot even be tried.
    package func checkFilesystem(_ probe: FilesystemProbe = .system) throws(StoreError) {
        try refuse(probe.userAttributes(stagingPath), "has no user extended attributes")
        try refuse(probe.renameWithoutReplace(stagingPath), "cannot rename without replacing (renameat2)")
        for directory in [storePath, versionsPath] {
            guard probe.renameAcross(stagingPath, directory) == EXDEV else { continue }
            throw StoreError(
                .unsuitableFilesystem, "\(directory) is on another filesystem, or another mount, than \(stagingPath)",
                errno: EXDEV, remedy: "Unmount what is mounted there: the whole home must be on one filesystem")
        }
    }

    private func refuse(_ errno: Int32, _ lack: String) throws(StoreError) {
        switch errno {
        case 0: return
        case ENOSPC, EDQUOT, EACCES, EROFS: throw StoreError(errno: errno, "try the filesystem of", path)
        default:
            throw StoreError(
                .unsuitableFilesystem, "the filesystem of \(path)\(filesystemName) \(lack)", errno: errno,
                remedy: "Put the home on a local ext4, xfs or btrfs filesystem: --home DIR")
        }
    }

    /// ` (ramfs)`; empty for a kind that is not in the table. Numbers: `linux/magic.h`.
    private var filesystemName: String {
        var raw = statfs()
        guard statfs(path, &raw) == 0 else { return "" }
        let names: [Int: String] = [
            0x8584_58F6: "ramfs", 0x0102_1994: "tmpfs", 0x6969: "nfs", 0x4D44: "vfat", 0x2011_BAB0: "exfat",
            0x6573_5546: "fuse", 0xFF53_4D42: "cifs", 0xFE53_4D42: "smb", 0x0102_1997: "9p", 0xEF53: "ext4",
            0x794C_7630: "overlay",
        ]
        return names[Int(raw.f_type)].map { " (\($0))" } ?? ""
    }
}
