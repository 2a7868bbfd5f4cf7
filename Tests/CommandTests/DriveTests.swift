import Glibc
import QuireCore
import QuireIndex
import QuireStore
import Synchronization
import Testing

@testable import QuireMain

/// An index of fixed content.
final class FixedCatalog: DriveCatalog {
    private let items: Lock<[CatalogEntry]>

    init(_ items: [CatalogEntry]) { self.items = Lock(items) }

    func settle() async {}
    func waitUntilWhole() async throws {}
    func reading<Value: Sendable>(_ body: () async throws -> Value) async rethrows -> Value { try await body() }
    func entry(at path: RelativePath) async throws -> CatalogEntry? { items.withLock { $0.first { $0.path == path } } }
    func entries(below directory: RelativePath) async throws -> [CatalogEntry] {
        items.withLock { $0.filter { $0.path != directory && $0.path.isInside(directory) } }
    }
    func search(_ query: ItemQuery, first: Int) async throws -> (ids: [ItemID], first: [CatalogEntry]) {
        let found = try await entries(below: query.under).filter { item in
            (query.nameGlob.flatMap { glob in item.path.name.map { glob.matches($0.bytes) } } ?? true)
                && (query.states.isEmpty || query.states.contains(query.transfers[item.id] ?? item.state))
        }
        return (found.map(\.id), Array(found.prefix(first)))
    }
    func paths(_ query: ItemQuery, _ body: ([RelativePath]) async throws -> Void) async throws -> Int {
        let found = try await search(query, first: .max).first
        try await body(found.map(\.path))
        return found.count
    }
    func entries(_ ids: ArraySlice<ItemID>, matching query: ItemQuery?) async throws -> [CatalogEntry] {
        items.withLock { items in ids.compactMap { id in items.first { $0.id == id } } }
    }
    func count(_ query: ItemQuery) async throws -> Int { try await search(query, first: 0).ids.count }
    func children(of directory: RelativePath) async throws -> [CatalogEntry] {
        items.withLock { $0.filter { $0.path.parent == directory } }
    }
    func count() async throws -> Int { items.withLock { $0.count } }
    func conflictCopies() async throws -> [RelativePath] {
        items.withLock { $0.map(\.path).filter { $0.name.flatMap { ConflictName($0) } != nil } }
    }
    func setPinned(_ item: ItemID, _ isPinned: Bool) async throws { change(item) { $0.isPinned = isPinned } }
    func setTags(_ item: ItemID, _ tags: [String]) async throws { change(item) { $0.tags = tags } }
    func changeTags(_ item: ItemID, adding: [String], removing: [String]) async throws -> [String]? {
        change(item) { $0.tags = $0.tags.filter { !removing.contains($0) } + adding }
        return items.withLock { $0.first { $0.id == item }?.tags }
    }
    func mayHaveTags(inode: UInt64) -> Bool { items.withLock { $0.contains { $0.inode == inode && !$0.tags.isEmpty } } }

    private func change(_ item: ItemID, _ body: (inout CatalogEntry) -> Void) {
        items.withLock { items in
            for index in items.indices where items[index].id == item { body(&items[index]) }
        }
    }
}

extension CatalogEntry {
    static func file(_ path: RelativePath, id: Int64 = 1, status: FileStatus? = nil) -> CatalogEntry {
        CatalogEntry(
            path: path, id: ItemID(id), kind: status?.kind ?? .file, size: status?.size ?? 3,
            mode: status?.mode ?? 0o644,
            mtime: status?.mtime ?? FileTime(nanoseconds: 5), ctime: status?.ctime ?? FileTime(nanoseconds: 6),
            inode: status?.inode ?? 9, container: .default, base: nil, isDataless: false, isPending: false,
            isPinned: false, tags: [], state: .current, error: nil, errorSince: nil, type: .data,
            created: FileTime(nanoseconds: 1), added: FileTime(nanoseconds: 2), generation: 7)
    }
}

@Suite("Conflicts")
struct ConflictSetTests {
    @Test("A conflict is of the copy and of the document beside it")
    func conflicts() {
        let copy: RelativePath = "d/a (conflicted copy 2026-01-31 from desk).txt"
        let set = ConflictSet(copies: [copy])
        #expect(set.contains(copy) && set.contains("d/a.txt") && !set.contains("a.txt"))
        #expect(set.document(of: copy) == "d/a.txt")
        #expect(set.copies(of: "d/a.txt") == [copy])
    }
}

@Suite("Questions about items")
struct DriveViewTests {
    private func view(_ items: [CatalogEntry], _ directory: TemporaryDirectory) throws -> DriveView {
        DriveView(
            catalog: FixedCatalog(items), tree: try DriveTree(opening: directory.path), searchesContent: false,
            providerName: { _ in "p" },
            transfer: { _ in nil }, transfers: { [:] })
    }

    @Test("find combines name, state and directory")
    func find() async throws {
        let directory = try TemporaryDirectory()
        var dirty = CatalogEntry.file("d/b.txt", id: 2)
        dirty.state = .dirty
        var folder = CatalogEntry.file("d", id: 3)
        folder.kind = .directory
        let view = try view([.file("a.txt"), dirty, folder, .file("d/c.md", id: 4)], directory)
        func paths(_ name: String?, _ states: [ItemState]?, _ below: RelativePath?) async throws -> [RelativePath] {
            let found = Lock<[RelativePath]>([])
            let query = ItemMethods.Find.Parameters(
                name: name, states: states, directory: below.map(WirePath.init), countOnly: false)
            let count = try await view.find(query) { items in found.withLock { $0 += items.map(\.path.path) } }
            let paths = found.withLock { $0 }
            #expect(count == paths.count)
            return paths
        }
        #expect(try await paths("*.txt", nil, nil) == ["a.txt", "d/b.txt"])
        #expect(try await paths(nil, [.dirty], nil) == ["d/b.txt"])
        #expect(try await paths("*", nil, "d") == ["d/b.txt", "d/c.md"])
        await #expect(throws: QuireError.self) { _ = try await paths(nil, nil, "none") }
        await #expect(throws: QuireError.self) { _ = try await paths(nil, nil, "a.txt") }
    }

    @Test("Pinned and tags are set as attributes, the others are not")
    func attributes() async throws {
        let directory = try TemporaryDirectory()
        let attributes = ItemAttributes(view: try view([.file("a")], directory))
        func text(_ name: String) async -> String? {
            await attributes.attribute(name, at: "a").map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(await text("state") == "current")
        #expect(await text("pinned") == "0")
        #expect(await attributes.setAttribute("pinned", to: [0x31], at: "a") == 0)
        #expect(await text("pinned") == "1")
        #expect(await attributes.setAttribute("tags", to: Array(" red, blue,,red".utf8), at: "a") == 0)
        #expect(await text("tags") == "red,blue")
        #expect(await attributes.setAttribute("pinned", to: Array("yes".utf8), at: "a") == EINVAL)
        #expect(await attributes.setAttribute("state", to: [], at: "a") == EPERM)
        #expect(await attributes.setAttribute("tags", to: [], at: "none") == ENOENT)
        #expect(await text("nothing") == nil)
    }

    @Test("check finds what differs between store and index")
    func check() async throws {
        let directory = try TemporaryDirectory()
        for name in ["same", "grown", "unknown"] { try directory.write(name, "abc") }
        let tree = try DriveTree(opening: directory.path)
        let same = CatalogEntry.file("same", status: try tree.requiredStatus(at: "same"))
        var grown = CatalogEntry.file("grown", id: 2, status: try tree.requiredStatus(at: "grown"))
        grown.size = 1
        let check = DriveCheck(catalog: FixedCatalog([same, grown, .file("gone", id: 3)]), tree: tree)
        let (items, differences) = try await check.store()
        #expect(items == 4)
        #expect(
            differences.map { "\($0.path.path): \($0.message)" } == [
                "gone: in the index, not in the store", "grown: 3 bytes in the store, 1 in the index",
                "unknown: in the store, not in the index",
            ])
    }

    @Test("check finds what differs between index and provider")
    func provider() {
        func item(_ path: RelativePath, _ version: String) -> RemoteItem {
            RemoteItem(
                path: path, kind: .file, version: ProviderVersion(version), size: .zero, mtime: FileTime(nanoseconds: 0)
            )
        }
        let bases = ["a", "b", "c"].map { BaseRecord(container: .default, item($0, "1")) }
        let differences = DriveCheck.provider(
            bases, [item("a", "1"), item("b", "2"), item("d", "1"), item("Notes/x", "1")], root: .root,
            excluded: ["Notes"])
        #expect(differences.map(\.path.path) == ["b", "c", "d"])
        #expect(differences.allSatisfy { $0.kind == .provider && !$0.repaired })
    }
}

@Suite("Resolving conflicts")
struct ConflictResolutionTests {
    private let desk: RelativePath = "a (conflicted copy 2026-01-31 from desk).txt"
    private let phone: RelativePath = "a (conflicted copy 2026-02-01 from phone).txt"
    private let plainDesk: RelativePath = "a (2026-01-31 from desk).txt"
    private let plainPhone: RelativePath = "a (2026-02-01 from phone).txt"

    private func choose(_ keep: [String]) throws(QuireError) -> ConflictResolution {
        try ConflictResolution.choose("a.txt", copies: [desk, phone], keep: keep)
    }

    @Test("What is kept stays or becomes the document, what is not goes")
    func choices() throws {
        #expect(try choose(["current"]) == .init(becomesDocument: nil, removed: [desk, phone], renamed: []))
        #expect(try choose(["desk"]) == .init(becomesDocument: desk, removed: [phone], renamed: []))
        #expect(
            try choose(["current", "phone"])
                == .init(becomesDocument: nil, removed: [desk], renamed: [(phone, plainPhone)]))
        #expect(
            try choose(["phone", desk.description])
                == .init(becomesDocument: phone, removed: [], renamed: [(desk, plainDesk)]))
    }

    @Test("An unknown version, and a document without conflict, are refused")
    func refusals() {
        #expect(throws: QuireError.self) { _ = try choose(["laptop"]) }
        #expect(throws: QuireError.self) { _ = try ConflictResolution.choose("a", copies: [], keep: ["current"]) }
    }
}

@Suite("Providers' URLs")
struct ProviderURLTests {
    private func checked(_ url: String, _ directory: TemporaryDirectory) throws(QuireError) -> String {
        let location = try HomeLocation(option: directory.path, environment: { _ in nil }, workingDirectory: "/")
        return try ProviderURL.checked(url, location: location)
    }

    @Test("A folder is named by an absolute path outside the drive's own directories")
    func folders() throws {
        let directory = try TemporaryDirectory()
        #expect(try checked("folder:/a//b/", directory) == "folder:/a/b")
        #expect(try checked("folder:///a", directory) == "folder:/a")
        for wrong in [
            "folder:a", "/a", "", "http://x", "s3+https://h/b", "folder:\(directory.path)/drive/x",
            "folder:\(directory.path)",
        ] {
            #expect(throws: QuireError.self, "\(wrong)") { _ = try checked(wrong, directory) }
        }
    }
}
