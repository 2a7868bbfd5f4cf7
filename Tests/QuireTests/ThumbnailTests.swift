import CLinux
import Foundation
import Glibc
import QuireCore
import Testing

@testable import Quire
@testable import QuireThumbnails

@Suite("Thumbnails")
struct ThumbnailTests {
    /// A black pixel, as libpng writes it.
    private static let pixel =
        Data(
            base64Encoded:
                "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==")
        ?? Data()

    private static func temporaryDirectory() throws -> URL {
        let path = FileManager.default.temporaryDirectory.appending(path: "quire-thumbnails-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return URL(filePath: realPath(path) ?? path, directoryHint: .isDirectory)
    }

    @Test("A thumbnail lies where file managers look, says what it is of, and counts no longer when that has changed")
    func cache() throws {
        let directory = try Self.temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        let document = directory.appending(path: "Größe & 1.txt")
        try Data("text".utf8).write(to: document)
        let cache = ThumbnailCache(directory: directory.appending(path: "cache"))
        try cache.store(Self.pixel, .xxLarge, of: document)
        let names = try FileManager.default.contentsOfDirectory(atPath: "\(directory.path)/cache/xx-large")
        let name = try #require(names.first)
        #expect(names.count == 1 && name.count == 36 && name.hasSuffix(".png"))
        var status = stat()
        #expect(stat("\(directory.path)/cache/xx-large/\(name)", &status) == 0 && status.st_mode & 0o7777 == 0o600)
        let picture = try #require(cache.picture(.xxLarge, of: document))
        let png = try #require(PNGPicture(picture))
        #expect(png.text("Thumb::URI") == "file://\(directory.path)/Gr%C3%B6%C3%9Fe%20&%201.txt")
        #expect(stat(document.path, &status) == 0 && png.text("Thumb::MTime") == "\(status.st_mtim.tv_sec)")
        #expect(cache.pictures(of: document).keys.map(\.self) == [.xxLarge])
        // Stored again the texts are there once.
        try cache.store(picture, .normal, of: document)
        #expect(cache.picture(.normal, of: document) == picture)
        let later = [timespec(tv_sec: 1_000_000_000, tv_nsec: 0), timespec(tv_sec: 1_000_000_000, tv_nsec: 0)]
        #expect(utimensat(AT_FDCWD, document.path, later, 0) == 0)
        #expect(cache.picture(.xxLarge, of: document) == nil)
    }

    @Test("A name is the MD5 of the URI, as the specification's example has it")
    func name() {
        #expect(ThumbnailCache.uri(Array("/home/jens/photos/me.png".utf8)) == "file:///home/jens/photos/me.png")
        let cache = ThumbnailCache(directory: URL(filePath: "/cache"))
        #expect(
            cache.file("file:///home/jens/photos/me.png", .large).path
                == "/cache/large/c6ee772d9e49320e97ec29a7eb5b1697.png")
    }

    @Test("What is no PNG, or too large, or of nothing, is refused, and nothing is stored")
    func refusals() throws {
        let directory = try Self.temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        let document = directory.appending(path: "doc")
        let cache = ThumbnailCache(directory: directory.appending(path: "cache"))
        #expect(throws: CocoaError.self) { try cache.store(Self.pixel, .normal, of: document) }
        try Data("text".utf8).write(to: document)
        #expect(throws: QuireError.self) { try cache.store(Data("GIF89a".utf8), .normal, of: document) }
        var wide = Array(Self.pixel)
        wide[18] = 1
        #expect(PNGPicture(Data(wide))?.width == 257)
        #expect(throws: QuireError.self) { try cache.store(Data(wide), .large, of: document) }
        #expect(!FileManager.default.fileExists(atPath: cache.directory.path))
        // Cut off anywhere it is read without harm.
        for length in 0..<Self.pixel.count { _ = PNGPicture(Self.pixel.prefix(length))?.with([("a", "b")]) }
    }

    @Test("What a document writes beside its contents is written as far as it can be, and the first failure told")
    func attributes() throws {
        let directory = try Self.temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        let document = directory.appending(path: "doc")
        try Data("text".utf8).write(to: document)
        let cache = ThumbnailCache(directory: directory.appending(path: "cache"))
        var attributes = DocumentAttributes(thumbnailDictionary: [.xxLarge: Self.pixel], tagNames: ["red", "blue"])
        #expect(attributes.write(to: document, cache) == nil)
        #expect(cache.picture(.xxLarge, of: document) != nil)
        var value = [UInt8](repeating: 0, count: 100)
        #expect(getxattr(document.path, "user.quire.tags", &value, 100) == 8)
        attributes.tagNames = ["a,b"]
        attributes.thumbnailDictionary = [.normal: Data(), .large: Self.pixel]
        #expect((attributes.write(to: document, cache) as? QuireError)?.code == .usage)
        #expect(cache.pictures(of: document).keys.sorted { $0.rawValue < $1.rawValue } == [.large, .xxLarge])
    }
}
