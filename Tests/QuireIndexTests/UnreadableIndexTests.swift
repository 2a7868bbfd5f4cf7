import Glibc
import QuireCore
import Testing

@testable import QuireIndex

@Suite("An index that the disk cannot read", .timeLimit(.minutes(2)))
struct UnreadableIndexTests {
    init() { FailingReads.prepare() }

    /// A document at the provider, one with an edit that waits, and one that waits for the first time; all of the index is in
    /// the one file.
    private func withDocuments(_ body: (TestDrive) async throws -> Void) async throws {
        try await withDrive { drive in
            try drive.create("sent", "one")
            try drive.create("edited", "two")
            try await drive.acknowledge("sent", "edited")
            try drive.write("edited", "two and more")
            try drive.create("new", "three")
            try await drive.index.settle()
            drive.index.close()
            let again = try TestDrive(at: drive.directory)
            defer { again.index.close() }
            try await body(again)
        }
    }

    private func setAside(_ drive: TestDrive) -> [String] {
        var found: [String] = []
        guard let stream = opendir(drive.directory) else { return found }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.contains(".corrupt-"), !name.hasSuffix("-wal"), !name.hasSuffix("-shm") { found.append(name) }
        }
        return found
    }

    @Test(
        "At opening it is set aside and built anew, and everything that waits is pending still",
        arguments: [FailingReads.unread, FailingReads.lost])
    func opening(code: Int32) async throws {
        try await withDocuments { drive in
            drive.index.close()
            let inode = try FailingReads.begin(drive.indexPath, code: code)
            defer { FailingReads.end(inode) }
            let again = try TestDrive(at: drive.directory)
            defer { again.index.close() }
            guard case .rebuilt(let aside) = again.opening else {
                Issue.record("\(again.opening)")
                return
            }
            #expect(access(aside, F_OK) == 0)
            _ = await again.rescan()
            #expect(try await again.pendingText() == ["edited: created", "new: created", "sent: created"])
        }
    }

    @Test(
        "Found while it is open it is built anew, and no event is lost",
        arguments: RebuildTests.Finder.allCases, [FailingReads.unread, FailingReads.lost])
    func running(foundBy finder: RebuildTests.Finder, code: Int32) async throws {
        try await withDocuments { drive in
            if finder == .writer {
                try await drive.forgetPages()
            } else {
                // What readers have kept is of an earlier state then.
                try await drive.index.setValue("test", "1")
            }
            let inode = try FailingReads.begin(drive.indexPath, code: code)
            defer { FailingReads.end(inode) }
            if finder == .reader {
                await #expect(throws: IndexError.self) { try await drive.index.counts() }
            }
            try drive.create("meanwhile", "four")
            let rebuild = try await drive.rebuilt()
            #expect(access(rebuild.setAside, F_OK) == 0)
            try await drive.index.waitUntilWhole()
            drive.index.takeBases(after: rebuild)
            #expect(
                try await drive.pendingText() == [
                    "edited: created", "meanwhile: created", "new: created", "sent: created",
                ])
            #expect(setAside(drive).count == 1)
        }
    }

    @Test(
        "What passes is no damage: the index stays, at opening and while it is open",
        arguments: [FailingReads.unread, FailingReads.lost])
    func passing(code: Int32) async throws {
        try await withDocuments { drive in
            try await drive.forgetPages()
            let inode = try FailingReads.begin(drive.indexPath, times: 1, code: code)
            defer { FailingReads.end(inode) }
            try drive.create("meanwhile", "four")
            #expect(
                try await drive.pendingText() == [
                    "edited: content metadata", "meanwhile: created", "new: created",
                ])
            drive.index.close()
            #expect(try FailingReads.begin(drive.indexPath, times: 1, code: code) == inode)
            let again = try TestDrive(at: drive.directory)
            defer { again.index.close() }
            #expect(again.opening == .existing)
            #expect(setAside(drive).isEmpty)
        }
    }

    @Test("Where no other can be written the index stays where it is, and opening it says why")
    func sickDisk() async throws {
        try await withDocuments { drive in
            drive.index.close()
            let inode = try FailingReads.begin(drive.indexPath)
            defer { FailingReads.end(inode) }
            // Nothing can be written there.
            mkdir(drive.indexPath + ".probe", 0o755)
            let error = #expect(throws: IndexError.self) { try TestDrive(at: drive.directory) }
            #expect(error?.code == .failed)
            #expect(error?.message.contains("disk") == true, "\(error as Any)")
            #expect(setAside(drive).isEmpty)
        }
    }

    @Test("Where the new one cannot be read either, opening ends with an error and leaves one file aside")
    func newOneToo() async throws {
        try await withDocuments { drive in
            drive.index.close()
            try FailingReads.begin(below: drive.directory)
            for _ in 0..<3 {
                let error = #expect(throws: IndexError.self) { try TestDrive(at: drive.directory) }
                #expect(error?.code == .failed)
            }
            #expect(setAside(drive).count <= 1)
            FailingReads.end(below: drive.directory)
            let again = try TestDrive(at: drive.directory)
            defer { again.index.close() }
            _ = await again.rescan()
            #expect(try await again.pendingText() == ["edited: created", "new: created", "sent: created"])
        }
    }
}
