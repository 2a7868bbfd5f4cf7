import Foundation
import Glibc
import QuireCore
import Testing

@testable import Quire

/// Files and packages that take a place, on a plain directory.
@Suite("Document file")
struct DocumentFileTests {
    private let directory: URL

    init() throws {
        directory = FileManager.default.temporaryDirectory.appending(
            path: "quire-document-\(UUID().uuidString)", directoryHint: .isDirectory)
        for name in ["here", "there"] {
            try FileManager.default.createDirectory(
                at: directory.appending(path: name), withIntermediateDirectories: true)
        }
    }

    private func url(_ path: String) -> URL { directory.appending(path: path, directoryHint: .notDirectory) }

    private func names(_ path: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: url(path).path).sorted()
    }

    private func make(_ path: String, isPackage: Bool) throws {
        if isPackage { try FileManager.default.createDirectory(at: url(path), withIntermediateDirectories: false) }
        try Data("text".utf8).write(to: isPackage ? url(path).appending(path: "part") : url(path))
    }

    @Test("What is taken from elsewhere is here whole, and no more there", arguments: [false, true])
    func taken(isPackage: Bool) throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        try make("there/a", isPackage: isPackage)
        try DocumentFile(url: url("here/b")).take(from: url("there/a"))
        #expect(try names("here") == ["b"] && names("there").isEmpty)
        let content = isPackage ? url("here/b").appending(path: "part") : url("here/b")
        #expect(try Data(contentsOf: content) == Data("text".utf8))
    }

    @Test(
        "A name that is taken stays with who has it, and what was to be moved where it was", arguments: [false, true])
    func takenName(isPackage: Bool) throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        try make("there/a", isPackage: isPackage)
        try make("here/b", isPackage: isPackage)
        let before = ContentStamp(path: url("here/b").path)
        #expect(throws: CocoaError.self) { try DocumentFile(url: url("here/b")).take(from: url("there/a")) }
        #expect(try names("here") == ["b"] && names("there") == ["a"])
        #expect(ContentStamp(path: url("here/b").path)?.matches(try #require(before)) == true)
    }

    @Test("A new name is given once, also where the file system cannot do that in one call", arguments: [false, true])
    func newName(isPackage: Bool) throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        for inOneCall in [true, false] {
            for name in ["first", "second"] { try make("here/\(name)", isPackage: isPackage) }
            #expect(try NewName.give(to: url("here/first"), url("here/new"), inOneCall: inOneCall))
            #expect(try !NewName.give(to: url("here/second"), url("here/new"), inOneCall: inOneCall))
            #expect(try names("here") == ["new", "second"])
            #expect(throws: CocoaError.self) {
                try NewName.give(to: url("here/nothing"), url("here/other"), inOneCall: inOneCall)
            }
            #expect(try names("here") == ["new", "second"])
            for name in ["new", "second"] { try FileManager.default.removeItem(at: url("here/\(name)")) }
        }
    }

    @Test("In a directory that may be written to and not listed a document is saved", .enabled(if: geteuid() == 0))
    func unlisted() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        #expect(chmod(directory.path, 0o755) == 0 && chmod(url("here").path, 0o733) == 0)
        // Of this thread alone, which does nothing else meanwhile. Glibc's module leaves it out.
        typealias Call = @convention(c) (UInt32) -> Int32
        let setfsuid = unsafeBitCast(try #require(dlsym(nil, "setfsuid")), to: Call.self)
        _ = setfsuid(65534)
        defer { _ = setfsuid(0) }
        #expect(open(url("here").path, O_RDONLY) < 0)
        let file = DocumentFile(url: url("here/a"))
        for text in ["one", "two"] {
            _ = try file.replace(with: FileWrapper(regularFileWithContents: Data(text.utf8)), keepsOther: text == "two")
            try file.flushName()
            #expect(try Data(contentsOf: url("here/a")) == Data(text.utf8))
        }
    }

    @Test("The content of a year beyond 2262 is known again, and no reason to end")
    func farTimes() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        try make("here/a", isPackage: false)
        for seconds in [16_725_225_600, -16_725_225_600, 9_223_372_036] {
            let time = timespec(tv_sec: seconds, tv_nsec: 999_999_999)
            #expect(utimensat(AT_FDCWD, url("here/a").path, [time, time], 0) == 0)
            let stamp = try #require(ContentStamp(path: url("here/a").path))
            #expect(ContentStamp(path: url("here/a").path)?.matches(stamp) == true)
        }
    }
}
