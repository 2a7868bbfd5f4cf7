import QuireCore
import Testing

@testable import QuireIndex

@Suite("Space in use, and pins")
struct SpaceTests {
    @Test("What is uploaded, clean and not pinned can go; a file with two names counts once")
    func use() async throws {
        try await withDrive { drive in
            try drive.create("clean", "12345")
            try await drive.acknowledge("clean")
            try drive.create("dirty", "123")
            try drive.create("pinned", "1234567")
            try await drive.acknowledge("pinned")
            try await drive.index.setPinned(try await drive.item("pinned").id, true)
            try drive.create("twice", "12")
            try drive.link("twice", "again")
            try await drive.index.settle()
            #expect(try await drive.index.spaceUse() == SpaceUse(here: 17, evictable: 5))
            #expect(try await drive.index.evictableFiles(after: nil, limit: 10).map(\.path) == ["clean"])
            try drive.write("clean", "123456")
            try await drive.index.settle()
            #expect(try await drive.index.spaceUse() == SpaceUse(here: 18, evictable: 0))
        }
    }

    @Test("Sizes that add up to more than a number holds are the largest number")
    func hugeSizes() async throws {
        try await withDrive { drive in
            try await drive.rememberSize(.max, of: try drive.create("one", "1"))
            try await drive.rememberSize(.max, of: try drive.create("two", "2"))
            #expect(try await drive.index.pendingBytes(container: .default) == .max)
            #expect(try await drive.index.spaceUse() == SpaceUse(here: .max, evictable: 0))
        }
    }

    @Test("Files of a container are counted by where their content is; placeholders are named")
    func contentPlaces() async throws {
        try await withDrive { drive in
            try drive.create("here", "1")
            try drive.create("gone", "12")
            try drive.makeDirectory("directory")
            try drive.create("other", "12")
            for path: RelativePath in ["gone", "other"] {
                try await drive.acknowledge(path)
                try drive.evict(path)
            }
            try await drive.index.settle()
            let all = ContentPlaces(here: 1, elsewhere: 2, first: ["gone", "other"])
            #expect(try await drive.index.contentPlaces(in: .default, limit: 9) == all)
            #expect(try await drive.index.contentPlaces(in: .default, limit: 1).first.count == 1)
        }
    }

    @Test("What can go comes by pages")
    func pages() async throws {
        try await withDrive { drive in
            for number in 0..<5 {
                let path = RelativePath([FileName(unchecked: Array("f\(number)".utf8))])
                try drive.create(path, "x")
                try await drive.acknowledge(path)
            }
            var found: [RelativePath] = []
            var last: ItemID?
            while case let page = try await drive.index.evictableFiles(after: last, limit: 2), let end = page.last {
                found += page.map(\.path)
                last = end.id
            }
            #expect(Set(found).count == 5)
            #expect(found.count == 5)
        }
    }

    @Test("A pin on a directory covers what is below it, what comes there, and what is moved there with all it holds")
    func pins() async throws {
        try await withDrive { drive in
            try drive.makeDirectory("kept")
            try drive.makeDirectory("kept/inner")
            try drive.create("kept/inner/before", "1")
            try await drive.index.settle()
            try await drive.index.setPinned(try await drive.item("kept").id, true)
            #expect(try await drive.item("kept/inner/before").isPinned)
            try drive.create("kept/inner/after", "1")
            try drive.makeDirectory("kept/inner/new")
            try drive.create("kept/inner/new/file", "1")
            try drive.makeDirectory("moved")
            try drive.create("moved/file", "1")
            #expect(try await !drive.item("moved/file").isPinned)
            try drive.rename("moved", "kept/moved")
            for path in ["kept/inner/after", "kept/inner/new/file", "kept/moved", "kept/moved/file"] as [RelativePath] {
                #expect(try await drive.item(path).isPinned, "\(path)")
            }
            try await drive.index.setPinned(try await drive.item("kept").id, false)
            try drive.create("kept/later", "1")
            for path in ["kept/inner/before", "kept/moved/file", "kept/later"] as [RelativePath] {
                #expect(try await !drive.item(path).isPinned, "\(path)")
            }
        }
    }
}

extension TestDrive {
    /// Has the index take a file for one of that size, in bytes.
    fileprivate func rememberSize(_ size: Int64, of status: FileStatus) async throws {
        var status = status
        status.size = size
        index.record(.contentChanged(status, writersOpen: false))
        try await index.settle()
    }
}
