import Crypto
package import Foundation
import Glibc
import QuireCore

/// The user's thumbnails, where file managers look for them (freedesktop.org's Thumbnail Managing Standard): a PNG for each size,
/// named by the MD5 of the document's URI, which says in itself what URI and modification time it is of.
///
/// Blocks on the file system; any thread.
package struct ThumbnailCache: Sendable {
    /// What Quire's thumbnails name as their software.
    static let software = "Quire"

    /// `$XDG_CACHE_HOME/thumbnails`.
    package let directory: URL
    private let path: String

    /// - Parameter directory: the one that has the sizes' directories in it; made when something is stored.
    package init(directory: URL) {
        self.directory = directory
        path = directory.path
    }

    /// The cache of the user.
    package static var user: ThumbnailCache {
        let environment = ProcessInfo.processInfo.environment
        let cache =
            environment["XDG_CACHE_HOME"].flatMap { $0.hasPrefix("/") ? URL(filePath: $0) : nil }
            ?? FileManager.default.homeDirectoryForCurrentUser.appending(path: ".cache")
        return ThumbnailCache(directory: cache.appending(path: "thumbnails"))
    }

    /// Stores a picture of the document as it is now: in one step, mode 0600.
    ///
    /// - Parameter name: of the document, for messages.
    /// - Throws: `.usage` for what is no PNG file, or is larger than the size; `CocoaError` where it cannot be written.
    package func store(
        _ picture: Data, _ size: ThumbnailSize, of place: DocumentPlace, named name: String,
        origin: ThumbnailOrigin? = nil
    ) throws {
        guard let png = PNGPicture(picture) else {
            throw QuireError(.usage, "\(name): its thumbnail is no PNG file", remedy: "Encode it as PNG")
        }
        guard max(png.width, png.height) <= size.rawValue else {
            throw QuireError(
                .usage, "\(name): its thumbnail has \(png.width) × \(png.height) pixels",
                remedy: "Scale it to \(size.rawValue) × \(size.rawValue)")
        }
        let texts = place.texts + [(ThumbnailOrigin.key, origin?.rawValue ?? "")]
        try write(png.with(texts), to: file(place.uri, size))
    }

    /// Lets a larger size show the same picture as a smaller one, without space of its own.
    package func share(_ size: ThumbnailSize, as larger: ThumbnailSize, of place: DocumentPlace) throws {
        let (source, target) = (file(place.uri, size), file(place.uri, larger))
        try makeDirectory(target.deletingLastPathComponent())
        let staged = Self.staged(beside: target)
        try check(link(source.path, staged.path), source)
        guard rename(staged.path, target.path) == 0 else {
            let failure = Self.failure(target)
            unlink(staged.path)
            throw failure
        }
        // A rename between two names of one file does nothing and leaves both.
        unlink(staged.path)
    }

    /// Whether there may be a picture of a document: a small part of what it costs to find that there is none in any size.
    package func mayHavePicture(of place: DocumentPlace) -> Bool {
        let name = Self.name(place.uri)
        return ThumbnailSize.allCases.contains { access("\(path)/\($0.directoryName)/\(name)", F_OK) == 0 }
    }

    /// The picture of a document as it is now; nil where there is none, or it is of an earlier content.
    package func picture(_ size: ThumbnailSize, of place: DocumentPlace) -> Data? {
        guard let data = try? Data(contentsOf: file(place.uri, size)), let png = PNGPicture(data),
            png.text("Thumb::URI") == place.uri, png.text("Thumb::MTime") == String(place.modified)
        else { return nil }
        return data
    }

    /// All pictures of a document as it is now.
    package func pictures(of place: DocumentPlace) -> [ThumbnailSize: Data] {
        ThumbnailSize.allCases.reduce(into: [:]) { found, size in found[size] = picture(size, of: place) }
    }

    /// Removes what Quire stored of this URI, of whatever time; what others stored stays theirs.
    package func remove(_ uri: String) {
        for size in ThumbnailSize.allCases {
            let file = file(uri, size)
            guard let data = try? Data(contentsOf: file), PNGPicture(data)?.text("Software") == Self.software else {
                continue
            }
            unlink(file.path)
        }
        unlink(failureFile(uri).path)
    }

    /// Notes that no picture of the document can be made as it is now, for others that would try (the standard's "Thumbnail
    /// Failures").
    package func noteFailure(of place: DocumentPlace) throws {
        guard let png = PNGPicture(Self.pixel) else { return }
        try write(png.with(place.texts), to: failureFile(place.uri))
    }

    /// Where the picture of what has this URI is.
    package func file(_ uri: String, _ size: ThumbnailSize) -> URL {
        directory.appending(path: size.directoryName).appending(path: Self.name(uri))
    }

    /// Where it is noted that there is none.
    package func failureFile(_ uri: String) -> URL {
        directory.appending(path: "fail/quire").appending(path: Self.name(uri))
    }

    private static func name(_ uri: String) -> String {
        var hash = Insecure.MD5()
        var uri = uri
        uri.withUTF8 { hash.update(bufferPointer: UnsafeRawBufferPointer($0)) }
        return hash.finalize().withUnsafeBytes { Hexadecimal.encode($0) } + ".png"
    }

    private func makeDirectory(_ folder: URL) throws {
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    private func write(_ data: Data, to file: URL) throws {
        try makeDirectory(file.deletingLastPathComponent())
        let staged = Self.staged(beside: file)
        let descriptor = open(staged.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        try check(descriptor, staged)
        do {
            let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            try handle.write(contentsOf: data)
            try handle.close()
            try check(rename(staged.path, file.path), file)
        } catch {
            unlink(staged.path)
            throw error
        }
    }

    private static func staged(beside file: URL) -> URL {
        file.deletingLastPathComponent().appending(path: ".quire-\(UUID().uuidString).png")
    }

    private func check(_ result: Int32, _ file: URL) throws { if result < 0 { throw Self.failure(file) } }

    private static func failure(_ file: URL) -> any Error {
        let cause = POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        return CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: file.path, NSUnderlyingErrorKey: cause])
    }

    /// A path as a URI, as GLib makes it (`g_filename_to_uri`), which file managers use.
    ///
    /// - Parameter path: absolute.
    package static func uri(_ path: [UInt8]) -> String {
        var text = Array("file://".utf8)
        text.reserveCapacity(text.count + path.count)
        for byte in path {
            if isPlain[Int(byte)] {
                text.append(byte)
            } else {
                text += [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 15)]
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") - 10 + value
    }

    /// Of each byte, whether it stands for itself.
    private static let isPlain = {
        let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!$&'()*+,-./:=@_~".utf8)
        return (UInt8.min...UInt8.max).map(plain.contains)
    }()

    /// One transparent pixel.
    private static let pixel =
        Data(
            base64Encoded:
                "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNgAAIAAAUAAen63NgAAAAASUVORK5CYII=")
        ?? Data()
}
