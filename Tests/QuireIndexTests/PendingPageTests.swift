import QuireCore
import QuireIndex
import Testing

@Suite("Pending items, a page at a time")
struct PendingPageTests {
    private func page(
        _ drive: TestDrive, from start: PendingCursor = .start, limit: Int = 100, companions: Int = 100,
        through: FileTime? = nil, skips: (@Sendable (ParkedSubject) -> Bool)? = nil
    ) async throws -> PendingPage {
        try await drive.index.settle()
        let now = drive.clock.now
        var request = PendingRequest(
            from: start, through: through ?? now, deletionsThrough: through ?? now, now: now, limit: limit, skips: skips
        )
        request.companionLimit = companions
        return try await drive.index.pendingPage(container: .default, request)
    }

    private func at(_ text: String) -> RelativePath { RelativePath(stringLiteral: text) }

    private func path(_ item: PendingItem) -> RelativePath { item.path ?? item.base?.path ?? .root }

    private func asked(_ page: PendingPage) -> [RelativePath] { page.items.prefix(page.asked).map(path) }

    /// What the item at `position` needs, by path.
    private func needs(_ page: PendingPage, _ position: Int = 0) -> Set<RelativePath> {
        Set(page.items[position].needs.map { path(page.items[$0]) })
    }

    @Test("No page holds more than was asked for, and together they hold everything once, the oldest first")
    func limits() async throws {
        try await withDrive { drive in
            let paths = (0..<250).map { at("file\($0)") }
            for path in paths {
                try drive.create(path, "x")
                drive.clock.advance(seconds: 1)
            }
            var found: [RelativePath] = []
            var start: PendingCursor? = .start
            while let from = start {
                let page = try await page(drive, from: from, limit: 100)
                #expect(page.items.count <= 100)
                found += asked(page)
                start = page.next
            }
            #expect(found == paths)
        }
    }

    @Test("Changes of one and the same time come once each, however small the pages")
    func equalTimes() async throws {
        try await withDrive { drive in
            for number in 0..<40 { try drive.create(at("file\(number)"), "x") }
            try await drive.acknowledge("file0", "file1", "file2", "file3")
            for number in 0..<4 { try drive.remove(at("file\(number)")) }
            #expect(Set(try await drive.pending().map(path)).count == 40)
            #expect(try await drive.pending().count == 40)
        }
    }

    @Test("What changed too recently is left out, and the last page says when the oldest of it did")
    func younger() async throws {
        try await withDrive { drive in
            try drive.create("old", "x")
            try await drive.index.settle()
            let through = drive.clock.now
            drive.clock.advance(seconds: 1)
            try drive.create("young", "x")
            try await drive.index.settle()
            let young = drive.clock.now
            drive.clock.advance(seconds: 1)
            try drive.create("younger", "x")
            let page = try await page(drive, through: through)
            #expect(asked(page) == ["old"])
            #expect(page.next == nil)
            #expect(page.nextChange == young)
            #expect(page.nextDeletion == nil)
        }
    }

    @Test("What changed in the future, by a clock that was set back, does not wait for it")
    func clockSetBack() async throws {
        try await withDrive { drive in
            let now = drive.clock.now
            drive.clock.advance(seconds: 1000)
            try drive.create("doc", "x")
            try await drive.index.settle()
            drive.clock.set(now)
            #expect(asked(try await page(drive)) == ["doc"])
        }
    }

    @Test("What is skipped is counted, and leaves the place on the page to others")
    func skipping() async throws {
        try await withDrive { drive in
            for number in 0..<20 { try drive.create(at("file\(number)"), "x") }
            let doc = try await drive.item("file19")
            let page = try await page(drive, limit: 5) { $0 != .item(doc.id) }
            #expect(asked(page) == ["file19"])
            #expect(page.skipped == 19)
        }
    }

    @Test("A new document comes with the new directories that it lies in, though they changed later")
    func parents() async throws {
        try await withDrive { drive in
            try drive.makeDirectory("dir")
            try drive.makeDirectory("dir/sub")
            try drive.create("dir/sub/doc", "x")
            try await drive.index.settle()
            drive.clock.advance(seconds: 1)
            try drive.chmod("dir", 0o700)
            try drive.chmod("dir/sub", 0o700)
            let page = try await page(drive, limit: 1)
            #expect(asked(page) == ["dir/sub/doc"])
            #expect(page.items.map(path) == ["dir/sub/doc", "dir/sub", "dir"])
            #expect(needs(page, 0) == ["dir/sub"])
            #expect(needs(page, 1) == ["dir"])
        }
    }

    @Test("What takes a place comes with what leaves it, round a ring")
    func places() async throws {
        try await withDrive { drive in
            for name in ["a", "b", "c"] as [RelativePath] { try drive.makeDirectory(name) }
            try drive.create("a/doc", "x")
            try await drive.acknowledge("a", "b", "c", "a/doc")
            for (from, to) in [("a", "t"), ("b", "a"), ("c", "b"), ("t", "c")] as [(RelativePath, RelativePath)] {
                drive.clock.advance(seconds: 1)
                try drive.rename(from, to)
            }
            let page = try await page(drive, limit: 1)
            #expect(page.asked == 1)
            #expect(Set(page.items.map(path)) == ["a", "b", "c"])
            #expect(page.items.allSatisfy { $0.needs.count == 1 && !$0.isIncomplete })
        }
    }

    @Test("A directory that is moved into one that was in it comes with that one")
    func insideOut() async throws {
        try await withDrive { drive in
            try drive.makeDirectory("a")
            try drive.makeDirectory("a/b")
            try await drive.acknowledge("a", "a/b")
            try drive.rename("a/b", "b")
            drive.clock.advance(seconds: 1)
            try drive.rename("a", "b/a")
            try await drive.index.settle()
            drive.clock.advance(seconds: 1)
            try drive.chmod("b", 0o700)
            let page = try await page(drive, limit: 1)
            #expect(page.items.map(path) == ["b/a", "b"])
            #expect(needs(page) == ["b"])
        }
    }

    @Test("What takes a deleted directory's place comes with all that was in it, or waits until there is less of it")
    func deletedDirectory() async throws {
        try await withDrive { drive in
            try drive.makeDirectory("old")
            try drive.makeDirectory("new")
            for number in 0..<10 { try drive.create(at("old/\(number)"), "x") }
            try await drive.acknowledge("old", "new")
            for number in 0..<10 { try await drive.acknowledge(at("old/\(number)")) }
            for number in 0..<10 { try drive.remove(at("old/\(number)")) }
            try drive.remove("old")
            try drive.rename("new", "old")
            let whole = try await page(drive, limit: 1, companions: 20)
            #expect(whole.items.count == 12)
            #expect(whole.items.allSatisfy { !$0.isIncomplete })
            #expect(needs(whole, 1).count == 10)
            let part = try await page(drive, limit: 1, companions: 5)
            #expect(part.items.count <= 7)
            #expect(part.items[1].isIncomplete)
        }
    }

    @Test("A deleted directory is for the page on which all that was in it has gone")
    func contentsFirst() async throws {
        try await withDrive { drive in
            try drive.makeDirectory("old")
            for name in ["1", "2", "3"] { try drive.create(at("old/\(name)"), "x") }
            try await drive.acknowledge("old", "old/1", "old/2", "old/3")
            for name in ["1", "2", "3"] { try drive.remove(at("old/\(name)")) }
            try drive.remove("old")
            let whole = try await page(drive)
            #expect(asked(whole) == ["old/3", "old/2", "old/1", "old"])
            #expect(needs(whole, 3) == ["old/1", "old/2", "old/3"])
            let first = try await page(drive, limit: 3)
            let second = try await page(drive, from: try #require(first.next), limit: 3)
            #expect(asked(second) == ["old"])
            #expect(second.items[0].isIncomplete)
            drive.index.record(.baseRemoved(container: .default, path: "old/1"))
            drive.index.record(.baseRemoved(container: .default, path: "old/2"))
            drive.index.record(.baseRemoved(container: .default, path: "old/3"))
            let last = try await page(drive)
            #expect(asked(last) == ["old"])
            #expect(!last.items[0].isIncomplete)
        }
    }

    @Test("Totals and single questions answer as the pages do")
    func totals() async throws {
        try await withDrive { drive in
            for name in ["a", "b", "c", "d"] as [RelativePath] { try drive.create(name, "x") }
            try await drive.acknowledge("a", "b", "c")
            try drive.rename("a", "moved")
            try drive.remove("b")
            try drive.rename("c", ".c.swp")
            try await drive.index.settle()
            let totals = try await drive.index.pendingTotals(container: .default)
            #expect(totals == PendingTotals(uploads: 1, moves: 1, deletions: 2))
            let subjects =
                [
                    .item(try await drive.item("moved").id), .item(try await drive.item(".c.swp").id),
                    .base(.default, "b"),
                    .base(.default, "c"), .base(.default, "nowhere"),
                ] as [ParkedSubject]
            let pending = try await drive.index.pending(of: subjects, container: .default)
            #expect(pending == [subjects[0], subjects[2], subjects[3]])
        }
    }
}
