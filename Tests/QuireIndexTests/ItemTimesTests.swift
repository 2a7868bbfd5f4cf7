import QuireCore
import Testing

@testable import QuireIndex

@Suite("Times of items")
struct ItemTimesTests {
    @Test("an item keeps the time it was made at through writes, safe-saves and moves")
    func created() async throws {
        try await withDrive { drive in
            try drive.makeDirectory("d")
            try drive.create("doc", "one")
            try await drive.acknowledge("doc")
            let made = try await drive.item("doc")
            drive.clock.advance(seconds: 100)
            try drive.write("doc", "two")
            try drive.create("doc.tmp", "three")
            try drive.rename("doc.tmp", "doc")
            let saved = try await drive.item("doc")
            #expect(saved.id == made.id && saved.created == made.created && saved.added == made.added)
            #expect(saved.generation > made.generation)
            drive.clock.advance(seconds: 100)
            try drive.rename("doc", "d/doc")
            let moved = try await drive.item("d/doc")
            #expect(moved.created == made.created && moved.generation == saved.generation)
            #expect(moved.added == drive.clock.now)
            drive.clock.advance(seconds: 5)
            // Away and made anew, as some editors save.
            try await drive.acknowledge("d/doc")
            try drive.rename("d/doc", "d/doc~")
            try drive.create("d/doc", "four")
            let again = try await drive.item("d/doc")
            #expect(again.id == made.id && again.created == made.created && again.generation > moved.generation)
        }
    }

    @Test("a new name in the same directory is no other time, another directory is")
    func added() async throws {
        try await withDrive { drive in
            try drive.makeDirectory("d")
            try drive.makeDirectory("e")
            try drive.create("d/a.txt", "x")
            let first = try await drive.item("d/a.txt")
            drive.clock.advance(seconds: 10)
            try drive.rename("d/a.txt", "d/b.txt")
            #expect(try await drive.item("d/b.txt").added == first.added)
            try drive.rename("d", "c")
            #expect(try await drive.item("c/b.txt").added == first.added)
            #expect(try await drive.item("c").added < drive.clock.now)
            try drive.rename("c/b.txt", "e/b.txt")
            #expect(try await drive.item("e/b.txt").added == drive.clock.now)
        }
    }

    @Test("attributes are no content: the generation stays, every write gives another")
    func generation() async throws {
        try await withDrive { drive in
            try drive.create("doc", "one")
            let first = try await drive.item("doc").generation
            try drive.chmod("doc", 0o600)
            #expect(try await drive.item("doc").generation == first)
            var last = first
            for text in ["x", "xy", "x"] {
                try drive.write("doc", text)
                let next = try await drive.item("doc").generation
                #expect(next > last)
                last = next
            }
        }
    }

    @Test("tags are added once, and only those that are named go")
    func tags() async throws {
        try await withDrive { drive in
            try drive.create("doc", "one")
            let item = try await drive.item("doc")
            #expect(!drive.index.mayHaveTags(inode: item.local.inode))
            #expect(try await drive.index.changeTags(item.id, adding: ["a", "b", "a"], removing: []) == ["a", "b"])
            #expect(drive.index.mayHaveTags(inode: item.local.inode))
            #expect(try await drive.index.changeTags(item.id, adding: ["c", "b"], removing: ["a"]) == ["b", "c"])
            #expect(try await drive.item("doc").tags == ["b", "c"])
            #expect(try await drive.index.changeTags(ItemID(1), adding: ["x"], removing: []) == nil)
            // A save by rename puts another inode under the document.
            try drive.create("doc.tmp", "two")
            try drive.rename("doc.tmp", "doc")
            let saved = try await drive.item("doc")
            #expect(saved.tags == ["b", "c"] && drive.index.mayHaveTags(inode: saved.local.inode))
            drive.index.close()
            let again = try TestDrive(at: drive.directory)
            defer { again.index.close() }
            #expect(again.index.mayHaveTags(inode: saved.local.inode))
        }
    }
}
