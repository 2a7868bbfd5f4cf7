import Glibc
import QuireCore
import QuireProviders
@testable import QuireSync
import QuireTestSupport
import Testing

/// A provider's folder whose documents are other files than before, with the same content and times: one that was copied to
/// another disk.
@Suite(.timeLimit(.minutes(1))) struct CopiedFolderTests {
    let clock = TestClock()

    /// Puts a file with `text` in the place of a document of the folder, with its time.
    private func replace(_ name: String, in folder: TemporaryDirectory, by text: String) {
        let (path, copy) = ("\(folder.path)/\(name)", "\(folder.path)/.quire/tmp/copy")
        var before = stat()
        #expect(stat(path, &before) == 0)
        let file = open(copy, O_WRONLY | O_CREAT | O_EXCL, 0o644)
        #expect(write(file, text, text.utf8.count) == text.utf8.count)
        #expect(fchmod(file, before.st_mode & 0o777) == 0)
        #expect(futimens(file, [before.st_mtim, before.st_mtim]) == 0)
        close(file)
        #expect(rename(copy, path) == 0)
    }

    private func isThere(_ name: String, in folder: TemporaryDirectory) -> Bool {
        access("\(folder.path)/\(name)", F_OK) == 0
    }

    @Test("What is deleted here while its folder is copied is deleted there, unless it is other content")
    func deleted() async throws {
        let folder = try TemporaryDirectory()
        let device = try Device("one", provider: FolderProvider(root: folder.path), clock: clock)
        try device.write("same", "text")
        try device.write("other", "text")
        #expect(await device.sync() == .settled)
        try device.remove("same")
        try device.remove("other")
        replace("same", in: folder, by: "text")
        replace("other", in: folder, by: "news")
        for _ in 0..<3 {
            clock.advance(.seconds(120))
            if await device.sync() == .settled { break }
        }
        #expect(try await device.pending().isEmpty)
        #expect(!isThere("same", in: folder))
        #expect(Set(try device.listing().keys) == ["other"])
        #expect(try await device.open("other") == "news")
    }

    @Test("A directory that was deleted here comes back with nothing but the document in it that is other content")
    func deletedDirectory() async throws {
        let folder = try TemporaryDirectory()
        let device = try Device("one", provider: FolderProvider(root: folder.path), clock: clock)
        try device.makeDirectory("dir")
        try device.write("dir/same", "text")
        try device.write("dir/other", "text")
        #expect(await device.sync() == .settled)
        try device.remove("dir")
        replace("dir/same", in: folder, by: "text")
        replace("dir/other", in: folder, by: "news")
        for _ in 0..<4 {
            clock.advance(.seconds(120))
            if await device.sync() == .settled { break }
        }
        #expect(try await device.pending().isEmpty)
        #expect(!isThere("dir/same", in: folder))
        #expect(Set(try device.listing().keys) == ["dir", "dir/other"])
        #expect(try await device.open("dir/other") == "news")
    }
}
