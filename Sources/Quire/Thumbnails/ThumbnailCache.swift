import Crypto
import Foundation
import Glibc
import QuireCore

/// The user's thumbnails, where file managers look for them (freedesktop.org's Thumbnail Managing Standard): a PNG for each size,
/// named by the MD5 of the document's URI, which says in itself what URI and modification time it is of.
///
/// Blocks on the file system; any thread.
struct ThumbnailCache: Sendable {
    /// `$XDG_CACHE_HOME/thumbnails`.
    let directory: URL

    /// The cache of the user.
    static var user: ThumbnailCache {
        let environment = ProcessInfo.processInfo.environment
        let cache =
            environment["XDG_CACHE_HOME"].flatMap { $0.hasPrefix("/") ? URL(filePath: $0) : nil }
            ?? FileManager.default.homeDirectoryForCurrentUser.appending(path: ".cache")
        return ThumbnailCache(directory: cache.appending(path: "thumbnails"))
    }

    /// Stores a picture of the document as it is now: in one step, mode 0600.
    ///
    /// - Throws: `.usage` for what is no PNG file, or is larger than the size; `CocoaError` where it cannot be written.
    func store(_ picture: Data, _ size: ThumbnailSize, of document: URL) throws {
        guard let png = PNGPicture(picture) else {
            throw QuireError(.usage, "\(document.path): its thumbnail is no PNG file", remedy: "Encode it as PNG")
        }
        guard max(png.width, png.height) <= size.rawValue else {
            throw QuireError(
                .usage, "\(document.path): its thumbnail has \(png.width) × \(png.height) pixels",
                remedy: "Scale it to \(size.rawValue) × \(size.rawValue)")
        }
        guard let place = Self.place(of: document) else {
            throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: document.path])
        }
        let texts = [("Thumb::URI", place.uri), ("Thumb::MTime", String(place.modified)), ("Software", "Quire")]
        try write(png.with(texts), to: file(place.uri, size))
    }

    /// The picture of a document as it is now; nil where there is none, or it is of an earlier content.
    func picture(_ size: ThumbnailSize, of document: URL) -> Data? {
        guard let place = Self.place(of: document), let data = try? Data(contentsOf: file(place.uri, size)),
            let png = PNGPicture(data), png.text("Thumb::URI") == place.uri,
            png.text("Thumb::MTime") == String(place.modified)
        else { return nil }
        return data
    }

    /// All pictures of a document as it is now.
    func pictures(of document: URL) -> [ThumbnailSize: Data] {
        ThumbnailSize.allCases.reduce(into: [:]) { found, size in found[size] = picture(size, of: document) }
    }

    /// Where the picture of what has this URI is.
    func file(_ uri: String, _ size: ThumbnailSize) -> URL {
        let name = Insecure.MD5.hash(data: Data(uri.utf8)).map { byte in
            let digits = String(byte, radix: 16)
            return digits.utf8.count == 1 ? "0" + digits : digits
        }
        return directory.appending(path: size.directoryName).appending(path: name.joined() + ".png")
    }

    private func write(_ data: Data, to file: URL) throws {
        let folder = file.deletingLastPathComponent()
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let staged = folder.appending(path: ".quire-\(UUID().uuidString).png")
        let descriptor = open(staged.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        try WrapperWriter.check(descriptor, staged)
        do {
            let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            try handle.write(contentsOf: data)
            try handle.close()
            try WrapperWriter.check(rename(staged.path, file.path), file)
        } catch {
            try? FileManager.default.removeItem(at: staged)
            throw error
        }
    }

    /// What a file manager knows the document by: the URI by the path that has no links in it, and the second of its change.
    private static func place(of document: URL) -> (uri: String, modified: Int)? {
        var status = stat()
        guard let path = realPath(document.path), stat(path, &status) == 0 else { return nil }
        return (uri(path), Int(status.st_mtim.tv_sec))
    }

    /// As GLib makes it (`g_filename_to_uri`), which file managers use.
    static func uri(_ path: String) -> String {
        let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!$&'()*+,-./:=@_~".utf8)
        return path.utf8.reduce(into: "file://") { text, byte in
            guard !plain.contains(byte) else { return text.unicodeScalars.append(UnicodeScalar(byte)) }
            let digits = String(byte, radix: 16, uppercase: true)
            text += digits.utf8.count == 1 ? "%0\(digits)" : "%\(digits)"
        }
    }
}
