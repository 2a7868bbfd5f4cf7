import Glibc
import QuireCore
import Testing

@testable import QuireIndex

@Suite("Damage, full disks and restarts")
struct RecoveryTests {
    /// Runs `body` with a directory that has a drive in it.
    private func withDirectory(_ body: (String) async throws -> Void) async throws {
        let first = try TestDrive()
        defer { removeTree(first.directory) }
        try first.create("doc", "one")
        first.index.close()
        try await body(first.directory)
    }

    @Test("an index that was closed is found again, with the same ids")
    func reopen() async throws {
        try await withDirectory { directory in
            let first = try TestDrive(at: directory)
            #expect(first.opening == .existing)
            let id = try await first.item("doc").id
            try await first.acknowledge("doc")
            try first.create("gone")
            try first.remove("gone")
            first.index.close()
            let second = try TestDrive(at: directory)
            defer { second.index.close() }
            #expect(try await second.item("doc").id == id)
            #expect(try await second.pendingText() == [])
            try second.create("new")
            #expect(try await second.item("new").id > id)
        }
    }

    @Test("a damaged index is set aside and rebuilt by a rescan, with ids that were never used", arguments: [0, 4096])
    func corrupt(offset: Int) async throws {
        try await withDirectory { directory in
            let first = try TestDrive(at: directory)
            let id = try await first.item("doc").id
            first.index.close()
            let file = open(directory + "/index.sqlite", O_RDWR)
            let noise = [UInt8](repeating: 0xA5, count: 60_000)
            #expect(pwrite(file, noise, noise.count, off_t(offset)) == noise.count)
            close(file)
            let second = try TestDrive(at: directory)
            defer { second.index.close() }
            guard case .rebuilt(let aside) = second.opening else {
                Issue.record("not rebuilt: \(second.opening)")
                return
            }
            #expect(aside.contains("index.sqlite.corrupt-"))
            #expect(access(aside, F_OK) == 0)
            _ = await second.rescan()
            #expect(try await second.item("doc").id != id)
            #expect(try await second.pendingText() == ["doc: created"])
        }
    }

    @Test("an index of a newer version is refused and left as it is")
    func newer() async throws {
        try await withDirectory { directory in
            let first = try TestDrive(at: directory)
            try await first.index.write("a test") { db in
                try db.run("INSERT INTO grdb_migrations (identifier) VALUES ('999')")
            }
            first.index.close()
            let error = #expect(throws: IndexError.self) { try TestDrive(at: directory) }
            #expect(error?.code == .newerSchema)
            #expect(access(directory + "/index.sqlite", F_OK) == 0)
        }
    }

    @Test("a store that is not there is an error, not an empty drive")
    func missingStore() async throws {
        try await withDirectory { directory in
            let error = #expect(throws: IndexError.self) {
                try MetadataIndex.open(at: directory + "/index.sqlite", driveRoot: directory + "/nowhere")
            }
            #expect(error?.code == .storeMissing)
        }
    }

    @Test("on a full disk settle says so, reads go on, and nothing is lost once there is room")
    func fullDisk() async throws {
        try await withDirectory { directory in
            let drive = try TestDrive(at: directory, settleLimit: .milliseconds(1))
            defer { drive.index.close() }
            try await drive.index.settle()
            try await drive.index.write("a test") { db in
                try db.run("PRAGMA max_page_count = 1")
            }
            for number in 0..<400 {
                try drive.create(RelativePath([FileName(unchecked: Array("file \(number)".utf8))]))
            }
            let error = await #expect(throws: IndexError.self) { try await drive.index.settle() }
            #expect(error?.code == .noSpace)
            #expect(try await drive.index.item(at: "doc") != nil)
            // Before there is room again: the commit that succeeds must not go unheard.
            let changes = drive.index.changes()
            try await drive.index.write("a test") { db in
                try db.run("PRAGMA max_page_count = 1000000")
            }
            for await _ in changes where drive.index.failure == nil { break }
            try await drive.index.settle()
            #expect(try await drive.index.counts().items == 401)
        }
    }

    @Test("settle and record after close are answered")
    func closed() async throws {
        let drive = try TestDrive()
        defer { removeTree(drive.directory) }
        drive.index.close()
        try drive.create("late")
        try await drive.index.settle()
    }
}
