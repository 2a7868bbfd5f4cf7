import Glibc
import QuireCore
import Testing

@testable import QuireStore

@Suite("A placeholder") struct PlaceholderTests {
    let directory: TemporaryDirectory
    static let checksum = ContentChecksum(bytes: Array(0..<32))

    init() throws { directory = try TemporaryDirectory() }

    private func install(_ placeholder: Placeholder, size: Int64, as path: RelativePath, mode: UInt16 = 0o640) throws
        -> FileStatus
    {
        let staged = try Placeholder.create(
            placeholder, size: ByteCount(size), mtime: FileTime(seconds: 1_700_000_000, nanoseconds: 42), mode: mode,
            in: directory.staging)
        let change = LocalChange(path, .install(stagedPath: staged, dataless: true), expecting: .absent)
        guard case .done(let status?) = try StoreCommitter(tree: directory.tree, sink: EventLog()).commit(change) else {
            throw StoreError(.failed, "not installed")
        }
        return status
    }

    @Test(
        "has the size, mtime and mode it was given, no data, and says its version again",
        arguments: [1, 4096, 4097, 65_537, 5_000_000_000_000] as [Int64])
    func roundTrip(size: Int64) throws {
        let placeholder = Placeholder(
            version: ProviderVersion("\"etag-\n 42\" – ü"), container: .default, checksum: Self.checksum)
        let status = try install(placeholder, size: size, as: "doc")
        #expect(status.size == size && status.mode == 0o640)
        #expect(status.mtime == FileTime(seconds: 1_700_000_000, nanoseconds: 42))
        #expect(status.blocks <= 128)
        #expect(Placeholder.isCandidate(status))
        #expect(try Placeholder.look(at: "doc", in: directory.tree) == (status, .placeholder(placeholder)))
    }

    @Test("is recognised although its attribute fills a block of its own")
    func attributeBlock() throws {
        let placeholder = Placeholder(
            version: ProviderVersion(String(repeating: "v", count: 900)), container: .default, checksum: Self.checksum)
        let status = try install(placeholder, size: 100, as: "doc")
        #expect(Placeholder.isCandidate(status))
        #expect(try Placeholder.mark(at: "doc", in: directory.tree) == .placeholder(placeholder))
    }

    @Test("is told from real files: full, empty, sparse, and things that are no files")
    func others() throws {
        try directory.write("content", to: "full")
        try directory.write("", to: "empty")
        try directory.write("", to: "sparse")
        try directory.tree.createLink("link", target: Array("full".utf8))
        let sparse = try directory.tree.open("sparse", O_RDWR)
        #expect(ftruncate(sparse.rawValue, 1 << 20) == 0)
        for path: RelativePath in ["full", "empty", "sparse", "link", "missing", .root] {
            let found = try Placeholder.look(at: path, in: directory.tree)
            #expect(try found.mark == .none && found.status == directory.tree.status(at: path))
        }
    }

    @Test("whose mark cannot be read is dataless all the same")
    func unreadable() throws {
        for value in [
            "", "quire-placeholder 2\ncontainer default\nversion v", "nonsense", String(repeating: "x", count: 2000),
        ] {
            let file = try directory.tree.open("doc", O_RDWR | O_CREAT, mode: 0o600)
            #expect(ftruncate(file.rawValue, 10) == 0)
            try file.setAttribute(StoreAttribute.placeholder, Array(value.utf8), "doc")
            let mark = try Placeholder.mark(at: "doc", in: directory.tree)
            #expect(mark == .unreadable && mark.isDataless)
        }
    }

    @Test(
        "is one no longer once there is content in it, or none at all, whatever its mark says",
        arguments: ["content", "", String(repeating: "\0", count: 70_000) + "x"])
    func stale(text: String) throws {
        _ = try install(Placeholder(version: ProviderVersion("v"), container: .default), size: 7, as: "doc")
        let file = try directory.tree.open("doc", O_RDWR | O_TRUNC)
        let bytes = Array(text.utf8)
        #expect(write(file.rawValue, bytes, bytes.count) == bytes.count)
        #expect(try file.attribute(StoreAttribute.placeholder, "doc") != nil)
        #expect(try Placeholder.look(at: "doc", in: directory.tree).mark == .none)
        #expect(try Placeholder.mark(of: file) == .none)
        // Also by a descriptor that may not be read.
        let writing = try directory.tree.open("doc", O_WRONLY)
        #expect(try PlaceholderMark(of: writing.rawValue, writing.status()) == .stale)
    }

    @Test("is not what cannot be read: that it has no content is not known")
    func unreadableContent() throws {
        _ = try install(Placeholder(version: ProviderVersion("v"), container: .default), size: 7, as: "doc")
        let status = try directory.tree.requiredStatus(at: "doc")
        // Nothing is at the first address of a process: reading there fails as a bad sector does.
        let memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
        #expect(memory >= 0)
        defer { close(memory) }
        #expect(throws: UnreadableContent(errno: EIO)) { try PlaceholderMark.isZeros(memory, status) }
    }

    @Test(
        "stays one where a copy of it, as backups make them, has its zeros on the disk", arguments: [50_000, 1 << 20])
    func copied(count: Int) throws {
        let placeholder = Placeholder(version: ProviderVersion("v"), container: .default)
        let status = try install(placeholder, size: 1 << 20, as: "doc")
        let file = try directory.tree.open("doc", O_RDWR)
        let zeros = [UInt8](repeating: 0, count: count)
        #expect(pwrite(file.rawValue, zeros, count, 0) == count)
        #expect(try file.status().blocks > status.blocks)
        #expect(try Placeholder.mark(at: "doc", in: directory.tree) == .placeholder(placeholder))
        #expect(pwrite(file.rawValue, [1], 1, off_t(count - 1)) == 1)
        #expect(try Placeholder.mark(at: "doc", in: directory.tree) == .none)
    }

    @Test(
        "is read strictly",
        arguments: [
            "quire-placeholder 1", "quire-placeholder 1\n", "quire-placeholder 1\ncontainer default",
            "quire-placeholder 1\ncontainer \nversion v", "quire-placeholder 1\ncontainer a/b\nversion v",
            "quire-placeholder 1\nversion v\ncontainer default", " quire-placeholder 1\ncontainer default\nversion v",
            "quire-placeholder 1\ncontainer default\nsha256 12\nversion v",
            "quire-placeholder 1\ncontainer default\nsha256 \(String(repeating: "A", count: 64))\nversion v",
            "quire-placeholder 1\r\ncontainer default\r\nversion v",
            "quire-placeholder 1\ncontainer default\nother x\nversion v",
        ])
    func strict(text: String) { #expect(Placeholder(parsing: Array(text.utf8)) == nil) }

    @Test("with any version survives encoding", arguments: ["", "v", "sha256 x", "a\nb\n", "version ", " ", "\r\n"])
    func encoding(version: String) throws {
        for checksum in [nil, Self.checksum] {
            let container = try #require(ContainerID("iCloud.com.example.Notes"))
            let placeholder = Placeholder(version: ProviderVersion(version), container: container, checksum: checksum)
            #expect(Placeholder(parsing: placeholder.encoded) == placeholder)
        }
        #expect(Placeholder(parsing: Array("quire-placeholder 1\ncontainer default\nversion ".utf8) + [0xFF]) == nil)
    }

    @Test("stays one through rename and chmod")
    func renamed() throws {
        let placeholder = Placeholder(version: ProviderVersion("v"), container: .default)
        _ = try install(placeholder, size: 10, as: "doc")
        try directory.tree.rename("doc", to: "other")
        #expect(try Placeholder.mark(at: "other", in: directory.tree) == .placeholder(placeholder))
    }

    @Test("that could not be made leaves nothing in staging")
    func failure() throws {
        let placeholder = Placeholder(
            version: ProviderVersion(String(repeating: "v", count: 70_000)), container: .default)
        let staging = directory.staging
        let failed = code { () throws(StoreError) in
            _ = try Placeholder.create(
                placeholder, size: ByteCount(1), mtime: FileTime(nanoseconds: 0), mode: 0o600, in: staging)
        }
        #expect(failed != nil)
        #expect(try directory.stagedNames().isEmpty)
    }
}
