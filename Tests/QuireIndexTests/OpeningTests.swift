import Glibc
import QuireCore
import Testing

@testable import QuireIndex

@Suite("Opening and damage")
struct OpeningTests {
    private func reopened(_ drive: TestDrive, _ body: (TestDrive) async throws -> Void) async throws {
        let again = try TestDrive(at: drive.directory)
        defer { again.index.close() }
        try await body(again)
    }

    @Test("what was recorded before a close is there after it, with ids, tags and values")
    func reopen() async throws {
        try await withDrive { drive in
            #expect(drive.opening == .created)
            try drive.create("doc", "one")
            try await drive.acknowledge("doc")
            let item = try await drive.item("doc")
            try await drive.index.setTags(item.id, ["red"])
            try await drive.index.setValue("cursor", "17")
            try drive.write("doc", "open", writersOpen: true)
            try drive.create("late", "x")
            drive.index.close()
            try await reopened(drive) { again in
                #expect(again.opening == .existing)
                let after = try await again.item("doc")
                #expect(after.id == item.id)
                #expect(after.tags == ["red"])
                #expect(!after.writersOpen)
                #expect(try await again.find("late") != nil)
                #expect(try await again.index.value("cursor") == "17")
            }
        }
    }

    @Test("a temporary file that was open when the daemon died and took a document's place is not open for writing")
    func staleWriter() async throws {
        try await withDrive { drive in
            try drive.create("doc", "one")
            try await drive.acknowledge("doc")
            try drive.create(".goutputstream-tmp", "x")
            try drive.write(".goutputstream-tmp", "another content", writersOpen: true)
            let temporary = try await drive.item(".goutputstream-tmp")
            #expect(temporary.writersOpen)
            drive.index.close()
            drive.isWatched = false
            try drive.rename(".goutputstream-tmp", "doc")
            try await reopened(drive) { again in
                _ = await again.rescan()
                #expect(try await again.pendingText() == ["doc: content metadata"])
                let document = try await again.item("doc")
                #expect(!document.writersOpen)
            }
        }
    }

    @Test("what sync was removing when the daemon died is no deletion; what it had not removed yet stays what it was")
    func unfinishedRemovals() async throws {
        try await withDrive { drive in
            try drive.makeDirectory("dir")
            for path in ["dir/a", "b", "c", "d"] as [RelativePath] { try drive.create(path, "text") }
            try await drive.acknowledge("dir", "dir/a", "b", "c", "d")
            drive.index.record(.removing(container: .default, paths: ["d"]))
            drive.index.record(.removing(container: .default, paths: ["dir/a", "dir", "b"]))
            try await drive.index.settle()
            drive.index.close()
            drive.isWatched = false
            for path in ["dir/a", "dir", "c", "d"] as [RelativePath] { try drive.remove(path) }
            try await reopened(drive) { again in
                _ = await again.rescan()
                let pending = try await again.pendingText()
                #expect(pending == ["d: deleted", "c: deleted"])
                #expect(try await again.index.baseCount(container: .default) == 5)
                try again.remove("b")
                #expect(try await again.pendingText() == ["d: deleted", "c: deleted", "b: deleted"])
            }
        }
    }

    @Test("ids are never used again")
    func freshIDs() async throws {
        try await withDrive { drive in
            try drive.create("doc", "one")
            let first = try await drive.item("doc").id
            try drive.remove("doc")
            drive.index.close()
            try await reopened(drive) { again in
                try again.create("doc", "two")
                #expect(try await again.item("doc").id > first)
            }
        }
    }

    @Test("an index that was not closed is checked, and set aside when a page of it is damaged")
    func damagedInside() async throws {
        try await withDrive { drive in
            for number in 0..<300 { try drive.create(try #require(RelativePath(parsing: "document number \(number)"))) }
            try await drive.index.settle()
            drive.index.close()
            let descriptor = open(drive.indexPath, O_RDWR)
            let rubbish = [UInt8](repeating: 0xA5, count: 4096)
            for page in 14..<24 { _ = pwrite(descriptor, rubbish, rubbish.count, page * 4096) }
            close(descriptor)
            OpenMarker(path: drive.indexPath + ".open").markOpen()
            try await reopened(drive) { again in
                guard case .rebuilt = again.opening else {
                    Issue.record("opened as \(again.opening)")
                    return
                }
            }
        }
    }

    @Test("containers that come and go at run time place items anew")
    func containers() async throws {
        let notes = try #require(ContainerID("com.example.Notes"))
        try await withDrive { drive in
            try drive.makeDirectory("Notes")
            try drive.create("Notes/doc", "one")
            try await drive.acknowledge("Notes", "Notes/doc")
            drive.index.setContainers(ContainerLayout([.init(notes, at: "Notes")]))
            #expect(try await drive.pendingText(notes) == ["doc: created"])
            #expect(try await drive.pendingText() == ["Notes: deleted"])
            // Until the other container's provider has it.
            #expect(try await drive.index.awaitingDeletes(container: .default, limit: 10) == ["Notes/doc"])
            drive.index.setContainers(.single)
            #expect(try await drive.pendingText() == ["Notes: content", "Notes/doc: content"])
        }
    }
}
