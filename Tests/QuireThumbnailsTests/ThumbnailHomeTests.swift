import Foundation
import Glibc
import QuireCore
import QuireTestSupport
import Testing

@testable import QuireThumbnails

@Suite("The drive's own thumbnails")
struct ThumbnailHomeTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func home(limit: Int64 = 1_000_000) -> ThumbnailHome {
        let home = ThumbnailHome(directory: directory.path + "/thumbnails", limit: ByteCount(limit))
        home.load()
        return home
    }

    private func key(_ path: RelativePath, _ size: Int64 = 1) -> ThumbnailKey {
        ThumbnailKey(path: path, size: size, modified: FileTime(nanoseconds: 7))
    }

    private var files: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: directory.path + "/thumbnails").sorted() }
    }

    @Test("A name tells document and version, and what is no name is none")
    func names() {
        #expect(ThumbnailKey(name: key("a/b").name) == key("a/b"))
        #expect(key("a").document == key("a", 2).document && key("a").version != key("a", 2).version)
        #expect(key("a").document != key("b").document)
        for name in ["", "-", "../../etc/passwd", key("a").name + "0", key("a").name.uppercased()] {
            #expect(ThumbnailKey(name: name) == nil)
        }
    }

    @Test("One thumbnail a document is kept, over restarts, and goes with the next version")
    func versions() throws {
        let home = home()
        #expect(try home.store(Data("one".utf8), key("a")) == [])
        #expect(home.state(key("a")) == .picture && home.state(key("a", 2)) == nil)
        #expect(self.home().read(key("a")) == Data("one".utf8))
        try home.noteFailure(key("a", 2))
        #expect(home.state(key("a", 2)) == .failed && home.read(key("a")) == nil && home.read(key("a", 2)) == nil)
        #expect(self.home().state(key("a", 2)) == .failed)
        #expect(try files == [key("a", 2).name + ".none"])
        _ = try home.store(Data("two".utf8), key("a", 2))
        #expect(try files == [key("a", 2).name + ".png"])
    }

    @Test("It follows a move, over whatever was there, and goes with the document")
    func moves() throws {
        let home = home()
        _ = try home.store(Data("one".utf8), key("a"))
        _ = try home.store(Data("other".utf8), key("b", 5))
        home.move(key("a"), to: key("b"))
        #expect(home.read(key("b")) == Data("one".utf8) && home.state(key("a")) == nil)
        #expect(try files == [key("b").name + ".png"])
        // What is not there does not move.
        home.move(key("a"), to: key("c"))
        #expect(home.remove(document: key("b").document) == key("b") && home.remove(document: key("c").document) == nil)
        #expect(try files.isEmpty)
    }

    @Test("Beyond the limit those used longest ago go")
    func limit() throws {
        let home = home(limit: 1000)
        let picture = Data(count: 300)
        for (number, name) in ["a", "b", "c"].enumerated() {
            let path = RelativePath(stringLiteral: name)
            _ = try home.store(picture, key(path))
            let time = [timespec(tv_sec: number, tv_nsec: 0), timespec(tv_sec: number, tv_nsec: 0)]
            #expect(utimensat(AT_FDCWD, "\(directory.path)/thumbnails/\(key(path).name).png", time, 0) == 0)
        }
        let again = self.home(limit: 1000)
        // Used now.
        #expect(again.read(key("a")) != nil)
        #expect(try again.store(picture, key("d")) == [key("b")])
        #expect(again.state(key("a")) == .picture && again.state(key("c")) == .picture && again.state(key("b")) == nil)
        #expect(try files.count == 3)
    }

    @Test("What is no thumbnail's goes at the start")
    func foreign() throws {
        _ = home()
        try directory.write("thumbnails/readme", "text")
        try directory.write("thumbnails/.staged", "left by a crash")
        _ = home()
        #expect(try files.isEmpty)
    }
}
