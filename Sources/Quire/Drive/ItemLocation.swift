import Foundation
import Glibc
import QuireCore

/// Where on which drive a URL's item is.
struct ItemLocation: Sendable {
    let drive: Drive
    /// The connection by whose mountpoint the path was found.
    let session: DriveSession
    /// Below the drive's root.
    let path: RelativePath

    /// Finds it. The directories of the path are resolved, a symbolic link named last is meant itself. What does not exist
    /// yet has a location, too. Blocks on the file system: call it in `LibraryExecutor.run`.
    ///
    /// - Parameter followsLink: a symbolic link named last stands for its target.
    /// - Throws: `.usage` for a URL that is no file's, whose path is not UTF-8, or that lies on no drive; `.unavailable` where
    ///   the drive does not run.
    static func of(_ url: URL, followsLink: Bool = false) async throws(QuireError) -> ItemLocation {
        let text = try path(of: url)
        let place = try resolved(text, followsLink: followsLink)
        guard let drive = try DriveRegistry.shared.drive(holding: place) else {
            throw QuireError(
                .usage, "\(text) is on no drive", remedy: "Coordinate access to documents below a drive's mountpoint")
        }
        let session = try await drive.link.session()
        guard let path = place.path.removing(ancestor: session.mount.path) else {
            throw QuireError(
                .usage, "\(text) is not on the drive, which is now at \(session.mount.path)",
                remedy: "Ask the drive for its mountpoint again")
        }
        return ItemLocation(drive: drive, session: session, path: path)
    }

    /// The URL's path; absolute.
    static func path(of url: URL) throws(QuireError) -> String {
        guard url.isFileURL else { throw QuireError(.usage, "\(url.absoluteString) is not the URL of a file") }
        let text = url.absoluteURL.path(percentEncoded: false)
        // Foundation gives the encoded form, or nothing, for bytes that are not UTF-8.
        let encoded = url.absoluteURL.path(percentEncoded: true)
        guard text.hasPrefix("/"), !text.utf8.contains(0), encoded.removingPercentEncoding != nil else {
            throw QuireError(
                .usage, "\(url.absoluteString) has no path in UTF-8", remedy: "Rename the item to a name in UTF-8")
        }
        return text
    }

    private static func resolved(_ text: String, followsLink: Bool) throws(QuireError) -> MountPath {
        var names = text.split(separator: "/").filter { $0 != "." }
        let namesItself = followsLink || names.last == ".." || names.isEmpty
        var missing: [Substring] = []
        if !namesItself, let last = names.popLast() { missing = [last] }
        while true {
            if let real = realPath("/" + names.joined(separator: "/")) {
                return try joined(real, missing, text)
            }
            let code = errno
            guard code == ENOENT || code == ENOTDIR, let last = names.popLast() else {
                // A mount whose daemon has ended (ENOTCONN), a directory that may not be read: the text has to do.
                return try joined("/" + names.joined(separator: "/"), missing, text)
            }
            missing.insert(last, at: 0)
        }
    }

    private static func joined(
        _ directory: String, _ names: [Substring], _ text: String
    ) throws(QuireError) -> MountPath {
        guard let path = RelativePath(parsing: AbsolutePath.normalized(names.joined(separator: "/"), in: directory))
        else { throw QuireError(.usage, "\(text) is not a path") }
        return MountPath(path)
    }
}
