import Glibc
import QuireCore
import Testing

@testable import QuireStore

@Suite("Kept versions") struct KeptVersionsTests {
    let directory: TemporaryDirectory
    let item = ItemID(0x1234_0000_0001)
    var versions: KeptVersions { directory.home.keptVersions }

    init() throws { directory = try TemporaryDirectory() }

    private func time(_ seconds: Int) -> FileTime { FileTime(seconds: seconds, nanoseconds: 123) }

    /// Keeps what is at a path.
    private func keep(_ path: RelativePath, now: FileTime) throws -> KeptVersions.Version {
        let snapshot = try Snapshot.take(directory.tree, path, staging: directory.staging, now: later)
        return try versions.keep(snapshot, of: item, origin: path, now: now)
    }

    private func content(_ version: KeptVersions.Version) throws -> String {
        let file = try OwnedDescriptor.open(version.path, O_RDONLY)
        var bytes = [UInt8](repeating: 0, count: Int(version.status.size))
        #expect(read(file.rawValue, &bytes, bytes.count) == bytes.count)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("have the content, mode, mtime and origin of the document, and list oldest first")
    func copies() throws {
        let status = try directory.write("second", to: "doc", mode: 0o644)
        let second = try keep("doc", now: time(2_000_000_000))
        try directory.write("first", to: "doc")
        let first = try keep("doc", now: time(1_000_000_000))
        #expect(try versions.list(item) == [first, second])
        #expect(try content(first) == "first" && content(second) == "second")
        #expect(second.status.mode == 0o644 && second.status.mtime == status.mtime && second.origin == "doc")
        #expect(second.name.hasPrefix("20330518T033320.000000123Z-"))
        #expect(try directory.read("doc") == "first")
        #expect(try directory.stagedNames().isEmpty)
        #expect(try versions.items() == [item])
    }

    @Test("a staged file becomes a version by rename; what is no file does not")
    func staged() throws {
        let staged = try directory.staging.createFile("version")
        #expect(write(staged.descriptor.rawValue, "text", 4) == 4)
        let path = staged.keep()
        let version = try versions.keep(staged: path, of: item, origin: "doc", now: time(1))
        #expect(try content(version) == "text" && version.origin == "doc" && !version.isDiscardable)
        #expect(version.provided == nil)
        let brought = try directory.staging.createFile("brought")
        #expect(write(brought.descriptor.rawValue, "more", 4) == 4)
        let other = try versions.keep(
            staged: brought.keep(), of: item, origin: "doc", provided: ProviderVersion("v/ü=1"), now: time(2))
        #expect(try versions.list(item) == [version, other] && other.provided == ProviderVersion("v/ü=1"))
        #expect(try directory.stagedNames().isEmpty)
        #expect(throws: StoreError.self) {
            try versions.keep(staged: directory.staging.path, of: item, origin: "doc", now: time(1))
        }
    }

    @Test("of those that may go the oldest go while room is needed")
    func room() throws {
        for number in 1...4 {
            try directory.write("\(number)", to: "doc")
            let version = try keep("doc", now: time(number))
            if number != 1 { try versions.markDiscardable(version) }
        }
        #expect(try versions.list(item).map(\.isDiscardable) == [false, true, true, true])
        #expect(try versions.makeRoom { false } == 0)
        var missing = 2
        let removed = try versions.makeRoom {
            defer { missing -= 1 }
            return missing > 0
        }
        #expect(removed == 1)
        #expect(try versions.list(item).map { try content($0) } == ["1", "3", "4"])
        #expect(try versions.makeRoom { true } == 2)
        #expect(try versions.list(item).map { try content($0) } == ["1"])
    }

    @Test("the same content at the same time is one version")
    func same() throws {
        try directory.write("x", to: "doc")
        for _ in 0..<2 { _ = try keep("doc", now: time(5)) }
        #expect(try versions.list(item).count == 1)
        #expect(try directory.stagedNames().isEmpty)
    }

    @Test("a snapshot becomes a version by rename; a symlink is kept as one")
    func snapshots() throws {
        try directory.write("x", to: "doc")
        let snapshot = try Snapshot.take(directory.tree, "doc", staging: directory.staging, now: later)
        let version = try versions.keep(snapshot, of: item, origin: "doc", now: time(1))
        #expect(try content(version) == "x" && directory.stagedNames().isEmpty)
        try directory.tree.createLink("link", target: [0x74])
        let link = try keep("link", now: time(2))
        #expect(link.status.kind == .symlink && link.origin == nil)
        let again = try Snapshot.take(directory.tree, "link", staging: directory.staging, now: later)
        #expect(try versions.keep(again, of: item, origin: "link", now: time(3)).status.kind == .symlink)
        #expect(try versions.list(item).count == 3)
    }

    private func remove(
        _ path: RelativePath, open state: OpenState = .closed, now: @escaping () -> FileTime = later
    ) throws -> LocalChangeResult {
        let committer = StoreCommitter(tree: directory.tree, sink: EventLog()) { _ in state }
        return try versions.displace(path, by: .remove, item: item, in: directory.tree, committer, now: now)
    }

    @Test("nothing is kept of what is missing, dataless, or no document, and it does not go")
    func nothing() throws {
        let staged = try Placeholder.create(
            Placeholder(version: ProviderVersion("v"), container: .default), size: ByteCount(5),
            mtime: time(1), mode: 0o600, in: directory.staging)
        #expect(rename(staged, directory.tree.rootPath + "/dataless") == 0)
        #expect(mkfifo(directory.tree.rootPath + "/fifo", 0o600) == 0)
        for path: RelativePath in ["missing", "dataless"] { #expect(try remove(path) == .stale) }
        #expect(throws: StoreError.self) { try remove("fifo") }
        #expect(try directory.tree.list(.root).count == 2)
        #expect(try versions.list(item).isEmpty && versions.items().isEmpty)
    }

    @Test("what is taken away is kept; of an empty directory there is nothing")
    func displaced() throws {
        let status = try directory.write("x", to: "doc")
        #expect(try remove("doc") == .done(nil))
        #expect(try versions.list(item).map { try content($0) } == ["x"])
        #expect(try versions.list(item).first?.status.mtime == status.mtime)
        try directory.tree.createDirectory("dir")
        try directory.write("y", to: "dir/doc")
        #expect(try remove("dir") == .stale && remove("dir/doc") == .done(nil) && remove("dir") == .done(nil))
        #expect(try versions.list(item).count == 2 && directory.stagedNames().isEmpty)
    }

    @Test("what is in use, was written a moment ago, or is written meanwhile stays, and no version of it")
    func stays() throws {
        try directory.write("x", to: "doc")
        #expect(try remove("doc", open: .writing) == .busy)
        #expect(try remove("doc", now: WallClock.now) == .stale)
        var versions = versions
        let directory = directory
        versions.whenKept = { #expect(throws: Never.self) { try directory.write("meanwhile", to: "doc") } }
        let committer = StoreCommitter(tree: directory.tree, sink: EventLog())
        #expect(
            try versions.displace("doc", by: .remove, item: item, in: directory.tree, committer, now: later) == .stale)
        #expect(try directory.read("doc") == "meanwhile")
        #expect(try versions.list(item).isEmpty && directory.stagedNames().isEmpty)
    }

    @Test("are removed one at a time")
    func remove() throws {
        try directory.write("x", to: "doc")
        let version = try keep("doc", now: time(1))
        try versions.remove(version)
        #expect(try versions.list(item).isEmpty)
        #expect(throws: StoreError.self) { try versions.remove(version) }
    }
}
