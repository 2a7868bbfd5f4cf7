import CLinux
import Foundation
import Glibc
import QuireCore
import Synchronization

/// The drives that this process has to do with, one object for each home.
final class DriveRegistry: Sendable {
    static let shared = DriveRegistry()

    // Taken alone.
    private let drives = Lock<[String: Drive]>([:])

    /// The drive with this home; nil for the default one. Connects to nothing.
    func drive(home: String?) throws(QuireError) -> Drive {
        let directory = FileManager.default.currentDirectoryPath
        let named = try HomePath(
            option: home, environment: { name in getenv(name).map { String(cString: $0) } }, workingDirectory: directory
        )
        let path = realPath(named.path) ?? named.path
        return drives.withLock { drives in
            if let known = drives[path] { return known }
            let drive = Drive(home: path)
            drives[path] = drive
            return drive
        }
    }

    /// The drive that is or was mounted where `path` is.
    ///
    /// Known drives come first: a mount whose daemon has ended tells nothing.
    func drive(holding path: MountPath) throws(QuireError) -> Drive? {
        let known = drives.withLock { Array($0.values) }
        if let drive = known.first(where: { $0.link.lastMount.map { path.isInside($0) } ?? false }) { return drive }
        let mounts = MountTable.current().entries.filter(\.isDrive).filter { path.isInside(MountPath($0.mountpoint)) }
        guard let mount = mounts.max(by: { $0.mountpoint.utf8.count < $1.mountpoint.utf8.count }) else { return nil }
        return try drive(home: Self.home(of: mount.mountpoint))
    }

    /// Asks a mount for its drive's home.
    private static func home(of mountpoint: String) throws(QuireError) -> String {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = getxattr(mountpoint, "user.quire.home", &buffer, buffer.count)
        guard count > 0, let home = String(validating: buffer.prefix(count), as: UTF8.self) else {
            throw QuireError(
                .unavailable, "no daemon serves the drive mounted at \(mountpoint)",
                remedy: "Start it with `quire mount`")
        }
        return home
    }
}

/// `realpath(3)`.
func realPath(_ path: String) -> String? {
    guard let raw = realpath(path, nil) else { return nil }
    defer { free(raw) }
    return String(cString: raw)
}
