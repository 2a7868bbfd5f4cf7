import Foundation
import Glibc
import QuireConfinement
import QuireCore
import QuireTestSupport
import Testing

@testable import QuireThumbnails

/// A black pixel, as libpng writes it.
let pixel =
    Data(
        base64Encoded: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==")
    ?? Data()

@Suite("Making thumbnails", .timeLimit(.minutes(2)))
struct ThumbnailMakerTests {
    private let directory: TemporaryDirectory
    /// Apart from the threads that all tests share.
    private let pool = BackgroundPool(label: "maker", width: 2, niceness: 0)
    private let name = "test-\(UUID().uuidString)"

    init() throws { directory = try TemporaryDirectory() }

    /// A maker that knows nothing but a script for documents of the type `test/type`.
    private func maker(_ script: String) throws -> ThumbnailMaker {
        let program = try directory.script("maker", script)
        try directory.write(
            "test.thumbnailer", "[Thumbnailer Entry]\nExec=\(program) %i %o %s\nMimeType=test/type;\n")
        return ThumbnailMaker(
            recipes: ThumbnailRecipes(directories: [directory.path], path: []),
            directories: WorkDirectory(staging: directory.path, purpose: "test", name: name))
    }

    private func make(_ script: String) throws -> Data? {
        let maker = try maker(script)
        defer { maker.directories.sweep() }
        try directory.write("copy", "content of the document")
        let made = try maker.picture(ofCopy: directory.path + "/copy", type: "test/type", ending: "x/../y")
        #expect(!FileManager.default.fileExists(atPath: directory.path + "/copy"))
        let left = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        #expect(!left.contains { $0.hasPrefix("thumbnail-") })
        return made
    }

    @Test("What a program writes is taken when it is a whole picture of the size")
    func picture() async throws {
        let encoded = pixel.base64EncodedString()
        let script =
            "grep -q document $1 && [ $3 = 512 ] && echo \(encoded) | base64 -d > $2 && case $1 in *.xy) ;; *) exit 1;; esac"
        let made = try await pool.run { try make(script) }
        #expect(made == pixel)
    }

    @Test(
        "What is no whole picture in a plain file is none",
        arguments: [
            "exit 0", "echo text > $2", "mkfifo $2", "ln -s /etc/passwd $2", "mkdir $2", "exit 1",
            "head -c 100M /dev/zero > $2; exit 0",
        ])
    func nothing(script: String) async throws { #expect(try await pool.run { try make(script) } == nil) }

    @Test("A picture with anything cut off, changed, added, or of another size than asked for is none")
    func damaged() throws {
        #expect(ThumbnailMaker.sound(pixel) == pixel)
        for length in 0..<pixel.count { #expect(ThumbnailMaker.sound(pixel.prefix(length)) == nil) }
        for index in pixel.indices {
            var changed = pixel
            changed[index] ^= 0x20
            #expect(ThumbnailMaker.sound(changed) == nil)
        }
        #expect(ThumbnailMaker.sound(pixel + [0]) == nil)
        #expect(ThumbnailMaker.sound(pixel, side: 0) == nil)
    }

    @Test("Installed programs make pictures of images, PDF and text that fit into the size")
    func installed() async throws { try await pool.run { try makeAll() } }

    private func makeAll() throws {
        let maker = ThumbnailMaker(
            recipes: ThumbnailRecipes(),
            directories: WorkDirectory(staging: directory.path, purpose: "test", name: name))
        defer { maker.directories.sweep() }
        let drawing =
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"900\" height=\"600\"><rect width=\"900\" height=\"600\" fill=\"red\"/></svg>"
        try directory.write("copy", drawing)
        let image = try #require(
            try maker.picture(ofCopy: directory.path + "/copy", type: "image/svg+xml", ending: "svg"))
        let png = try #require(PNGPicture(image))
        #expect(png.width == 512 && (341...342).contains(png.height))
        let small = try #require(try maker.scaled(image, to: 128))
        #expect(PNGPicture(small)?.width == 128)
        let page = try #require(try maker.picture(ofText: Array("Hello".utf8)))
        #expect(PNGPicture(page)?.height == 512)
        try directory.write(
            "copy",
            """
            %PDF-1.4
            1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
            2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
            3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 400]>>endobj
            trailer<</Root 1 0 R>>
            """)
        let pdf = try #require(
            try maker.picture(ofCopy: directory.path + "/copy", type: "application/pdf", ending: "pdf"))
        #expect(PNGPicture(pdf)?.height == 512)
        try directory.write("copy", "this is no picture")
        #expect(try maker.picture(ofCopy: directory.path + "/copy", type: "image/jpeg", ending: "jpg") == nil)
    }
}
