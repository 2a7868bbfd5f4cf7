import QuireCore
import QuireIndex
import Testing

@Suite("Queries and notes")
struct QueryTests {
    @Test("find answers by name, state and directory, ordered by path")
    func find() async throws {
        try await withDrive { drive in
            try drive.makeDirectory("dir")
            for path in ["dir/b.txt", "dir/a.txt", "c.txt", "z.swp", ".c.txt.swp"] as [RelativePath] {
                try drive.create(path, "x")
            }
            try await drive.acknowledge("dir", "dir/a.txt")
            func paths(_ query: ItemQuery) async throws -> [RelativePath] {
                try await drive.index.find(query).map(\.path)
            }
            #expect(try await paths(ItemQuery(nameGlob: Glob("*.txt"))) == ["c.txt", "dir/a.txt", "dir/b.txt"])
            #expect(try await paths(ItemQuery(under: "dir")) == ["dir/a.txt", "dir/b.txt"])
            #expect(try await paths(ItemQuery(states: [.localOnly])) == [".c.txt.swp"])
            #expect(try await paths(ItemQuery(states: [.current])) == ["dir", "dir/a.txt"])
            #expect(try await paths(ItemQuery(nameGlob: Glob("*.txt"), limit: 2)) == ["c.txt", "dir/a.txt"])
            #expect(try await paths(ItemQuery(under: "nowhere")) == [])
        }
    }

    @Test("What is found below a directory comes in the order that is asked for, by its path where that says nothing")
    func orderBelow() async throws {
        try await withDrive { drive in
            for path in ["d", "d/e"] as [RelativePath] { try drive.makeDirectory(path) }
            for (path, text) in [("d/b", "333"), ("d/a", "1"), ("d/e/c", "22"), ("x", "1")] {
                try drive.create(RelativePath(stringLiteral: path), text)
            }
            try await drive.index.settle()
            func found(_ order: [QueryOrder], limit: Int = .max) async throws -> [RelativePath] {
                let query = ItemQuery(
                    under: "d", limit: limit, predicate: try QueryParser.parse("kind == file"), order: order)
                var paths: [RelativePath] = []
                let count = try await drive.index.paths(query) { paths += $0 }
                #expect(try await drive.index.find(query).map(\.path) == paths && count == paths.count)
                return paths
            }
            #expect(try await found([QueryOrder(.size)]) == ["d/a", "d/e/c", "d/b"])
            #expect(try await found([QueryOrder(.size, isDescending: true)], limit: 2) == ["d/b", "d/e/c"])
            #expect(try await found([QueryOrder(.kind)]) == ["d/a", "d/b", "d/e/c"])
        }
    }

    @Test("counts say how much is there and pending")
    func counts() async throws {
        try await withDrive { drive in
            try drive.create("a", "x")
            try drive.create("b", "x")
            try drive.create("c", "x")
            try drive.create("d", "x")
            try await drive.acknowledge("a", "b", "c")
            try drive.rename("a", "moved")
            try drive.remove("b")
            try drive.write("c", "more")
            try await drive.index.settle()
            let counts = try await drive.index.counts()
            #expect(counts.items == 3)
            #expect(counts.pendingUploads == 2)
            #expect(counts.pendingRenames == 1)
            #expect(counts.pendingDeletes == 1)
        }
    }

    @Test("pending items: what is new, and each thing that was deleted")
    func order() async throws {
        try await withDrive { drive in
            try drive.makeDirectory("old")
            try drive.makeDirectory("old/sub")
            try drive.create("old/sub/doc", "x")
            try await drive.acknowledge("old", "old/sub", "old/sub/doc")
            try drive.remove("old/sub/doc")
            try drive.remove("old/sub")
            try drive.remove("old")
            try drive.makeDirectory("new")
            try drive.create("new/doc", "x")
            #expect(
                try await drive.pendingText()
                    == ["new: created", "new/doc: created", "old/sub/doc: deleted", "old/sub: deleted", "old: deleted"])
        }
    }

    @Test("a parked error shows in the item's state, and keeps its time while it stays the same")
    func parked() async throws {
        try await withDrive { drive in
            try drive.create("doc", "x")
            let id = try await drive.item("doc").id
            try await drive.index.park(.item(id), message: "no", code: "changed")
            let first = try #require(try await drive.item("doc").parked)
            drive.clock.advance(seconds: 5)
            try await drive.index.park(.item(id), message: "no", code: "changed")
            #expect(try await drive.item("doc").parked == first)
            #expect(try await drive.item("doc").state == .error)
            #expect(try await drive.pending().first?.parked == first)
            #expect(try await drive.index.parkedErrors().map(\.path) == ["doc"])
            try await drive.index.unpark(.item(id))
            #expect(try await drive.item("doc").state == .dirty)
            #expect(try await drive.index.parkedErrors().isEmpty)
        }
    }

    @Test("a parked deletion is known by its base path, and forgotten with its base")
    func parkedDeletion() async throws {
        try await withDrive { drive in
            try drive.create("doc", "x")
            try await drive.acknowledge("doc")
            try drive.remove("doc")
            try await drive.index.park(.base(.default, "doc"), message: "no")
            #expect(try await drive.pending().first?.parked?.message == "no")
            drive.index.record(.baseRemoved(container: .default, path: "doc"))
            try await drive.index.settle()
            #expect(try await drive.index.parkedErrors().isEmpty)
        }
    }

    @Test("names may be any bytes")
    func names() async throws {
        try await withDrive { drive in
            let name = FileName(unchecked: [0xFF, 0x0A, 0x25])
            let status = try drive.present(.root)
            var file = status
            file.kind = .file
            file.inode += 1_000_000
            drive.index.record(.created(parent: status.inode, name: name, file))
            let item = try #require(try await drive.find(RelativePath([name])))
            #expect(item.path.name == name)
            #expect(try await drive.index.find(ItemQuery()).count == 1)
        }
    }

    @Test("changes tell of each commit until the index is closed")
    func changes() async throws {
        try await withDrive { drive in
            var changes = drive.index.changes().makeAsyncIterator()
            try drive.create("doc")
            await changes.next()
            try await drive.index.settle()
            drive.index.close()
            while await changes.next() != nil {}
        }
    }

    @Test("a cancelled task reads and writes all the same, and spoils nothing for others")
    func cancelled() async throws {
        try await withDrive { drive in
            try drive.create("doc", "x")
            try await drive.index.settle()
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<50 {
                    group.addTask {
                        do {
                            _ = try await drive.index.counts()
                            try await drive.index.setValue("key", "\(number)")
                            _ = try await drive.index.item(at: "doc")
                        } catch {
                            Issue.record(error)
                        }
                    }
                }
                group.cancelAll()
            }
            #expect(try await drive.index.counts().items == 1)
        }
    }
}
