import Dispatch
import Glibc
import QuireCore
import Testing

@testable import QuireIndex

/// After a power cut, a row that outran the store would have a document deleted at the provider that never was on the disk
/// here.
@Suite("What sync changed is on the disk before its row", .timeLimit(.minutes(1)))
struct WritingThroughTests {
    /// A drive with directories and a document in each.
    private func withDocuments(
        _ body: (TestDrive, [RelativePath]) async throws -> Void
    ) async throws {
        let drive = try TestDrive(settleLimit: .zero)
        defer { drive.remove() }
        let paths = ["a/doc", "b/doc", "c/doc", "d/doc", "e/doc"] as [RelativePath]
        for path in paths {
            let directory = try #require(path.parent)
            try drive.makeDirectory(directory)
            try drive.create(path, "content")
            try await drive.acknowledge(directory, path)
        }
        try await body(drive, paths)
    }

    /// Evicts a document, and has the writing through of that wait for what is returned.
    private func heldWriting(_ drive: TestDrive, _ path: RelativePath) async throws -> DispatchSemaphore {
        let signal = DispatchSemaphore(value: 0)
        drive.faults.holdWriting(signal)
        try drive.evict(path)
        var writings = drive.faults.writings.makeAsyncIterator()
        await writings.next()
        return signal
    }

    @Test("The row is committed once the directory is written through, and not before")
    func order() async throws {
        try await withDocuments { drive, paths in
            drive.faults.refuseWriting(error: EIO)
            try drive.evict(paths[0])
            await #expect(throws: IndexError.self) { try await drive.index.settle() }
            #expect(try await drive.index.item(at: paths[0])?.local.isDataless == false)
            drive.faults.end()
            // The last attempt may be failing still.
            _ = try? await drive.index.settle()
            #expect(try await drive.item(paths[0]).local.isDataless)
            #expect(drive.faults.writtenThrough.allSatisfy { !$0 })
        }
    }

    @Test("So are both directories of a move that follows the provider's")
    func moved() async throws {
        try await withDocuments { drive, paths in
            let to: RelativePath = "b/moved"
            try drive.rename(paths[0], to, isTold: false)
            drive.index.record(
                .committed(
                    .init(
                        .moved(
                            fromParent: try drive.present("a").inode, fromName: "doc",
                            toParent: try drive.present("b").inode, toName: "moved", try drive.present(to)),
                        base: try drive.base(to))))
            #expect(try await drive.item(to).base?.path == to)
            #expect(drive.faults.writtenThrough == [false, false])
        }
    }

    @Test("So is what was removed as the provider's was: back after the cut, it would be a new document")
    func removed() async throws {
        try await withDocuments { drive, paths in
            let before = try drive.present(paths[0])
            drive.isWatched = false
            try drive.remove(paths[0])
            drive.isWatched = true
            drive.index.record(
                .committed(
                    .init(
                        .removed(parent: try drive.present("a").inode, name: "doc", inode: before.inode), base: nil)))
            try await drive.index.settle()
            #expect(drive.faults.writtenThrough == [false])
        }
    }

    @Test("Of many directories the file system is written through, once for all that came meanwhile")
    func many() async throws {
        try await withDocuments { drive, paths in
            let signal = try await heldWriting(drive, paths[0])
            for path in paths.dropFirst() { try drive.evict(path) }
            drive.faults.holdWriting(nil)
            signal.signal()
            for path in paths { #expect(try await drive.item(path).local.isDataless) }
            #expect(drive.faults.writtenThrough == [false, true])
        }
    }

    @Test("So it is where a directory came with the document")
    func newDirectory() async throws {
        try await withDocuments { drive, paths in
            let signal = try await heldWriting(drive, paths[0])
            drive.isWatched = false
            try drive.makeDirectory("new")
            try drive.create("new/doc", "content")
            drive.isWatched = true
            drive.index.record(
                .committed(
                    .init(
                        .installed(
                            parent: try drive.present(.root).inode, name: "new", try drive.present("new"),
                            dataless: false), base: try drive.base("new"))))
            try drive.evict("new/doc")
            drive.faults.holdWriting(nil)
            signal.signal()
            #expect(try await drive.item("new/doc").local.isDataless)
            #expect(drive.faults.writtenThrough == [false, true])
        }
    }

    @Test("What programs do, and what the provider says of it, waits for no disk")
    func programs() async throws {
        try await withDocuments { drive, paths in
            try drive.write(paths[0], "another content")
            try await drive.acknowledge(paths[0], version: "2")
            try drive.rename(paths[0], "moved")
            drive.index.record(.baseRemoved(container: .default, path: paths[1]))
            #expect(try await drive.find("moved") != nil)
            #expect(drive.faults.writtenThrough == [])
        }
    }
}
