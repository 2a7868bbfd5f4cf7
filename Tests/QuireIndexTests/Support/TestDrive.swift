import CLinux
import Glibc
import Synchronization
import Testing

@testable import QuireIndex
@testable import QuireCore

/// A store on disk, an index over it, and a stand-in for the driver: each operation is done and its event recorded.
final class TestDrive: Sendable {
    let directory: String
    let clock = TestClock()
    /// Where looking at the store fails.
    let faults = StoreFaults()
    let index: MetadataIndex
    let opening: IndexOpening
    private let watched = Lock(true)
    /// When given, events go here instead of straight to the index.
    let delayed = Lock<[StoreEvent]?>(nil)

    /// When false, operations are done and not recorded.
    var isWatched: Bool {
        get { watched.withLock { $0 } }
        set { watched.withLock { $0 = newValue } }
    }

    var store: String { directory + "/drive" }
    var indexPath: String { directory + "/index.sqlite" }

    init(
        containers: ContainerLayout = .single, at existing: String? = nil,
        clock: (@Sendable () -> FileTime)? = nil, settleLimit: Duration = .seconds(10),
        unreadPause: Duration = .seconds(60), types: ItemTyper = ItemTyper(), keepsContent: Bool = false
    ) throws {
        if let existing {
            directory = existing
        } else {
            directory = try Self.makeDirectory()
            mkdir(directory + "/drive", 0o755)
        }
        let fixed = self.clock
        (index, opening) = try MetadataIndex.open(
            at: directory + "/index.sqlite", lister: StoreLister(root: directory + "/drive", calls: faults.calls),
            containers: containers, types: types, content: keepsContent ? directory + "/content.sqlite" : nil,
            settleLimit: settleLimit, unreadPause: unreadPause, clock: clock ?? { fixed.now })
    }

    /// A fresh one; returns its absolute path.
    static func makeDirectory() throws -> String {
        var template = Array("/tmp/quire-index-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw TestError("mkdtemp") }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    func remove() {
        index.close()
        removeTree(directory)
    }

    // MARK: Operations

    private func record(_ event: StoreEvent) {
        guard isWatched else { return }
        let isDelayed = delayed.withLock { events in
            events?.append(event)
            return events != nil
        }
        if !isDelayed { index.record(event) }
    }

    func status(_ path: RelativePath) -> FileStatus? {
        if case .entry(let status) = StoreLister(root: store).look(at: path) { status } else { nil }
    }

    func present(_ path: RelativePath) throws -> FileStatus {
        guard let status = status(path) else { throw TestError("nothing at \(path)") }
        return status
    }

    private func parent(_ path: RelativePath) throws -> UInt64 { try present(path.parent ?? .root).inode }
    private func name(_ path: RelativePath) throws -> FileName { try #require(path.name) }
    private func full(_ path: RelativePath) -> String { store + "/" + String(decoding: path.bytes, as: UTF8.self) }

    @discardableResult
    func create(_ path: RelativePath, _ content: String = "") throws -> FileStatus {
        let descriptor = open(full(path), O_CREAT | O_EXCL | O_WRONLY, 0o644)
        guard descriptor >= 0 else { throw TestError("create \(path)") }
        record(.created(parent: try parent(path), name: try name(path), try present(path)))
        _ = Glibc.write(descriptor, content, content.utf8.count)
        close(descriptor)
        if !content.isEmpty { record(.contentChanged(try present(path), writersOpen: false)) }
        return try present(path)
    }

    func write(_ path: RelativePath, _ content: String, writersOpen: Bool = false) throws {
        let descriptor = open(full(path), O_WRONLY | O_TRUNC)
        guard descriptor >= 0 else { throw TestError("open \(path)") }
        _ = Glibc.write(descriptor, content, content.utf8.count)
        close(descriptor)
        record(.contentChanged(try present(path), writersOpen: writersOpen))
    }

    func closed(_ path: RelativePath) throws { record(.contentChanged(try present(path), writersOpen: false)) }

    func makeDirectory(_ path: RelativePath) throws {
        guard mkdir(full(path), 0o755) == 0 else { throw TestError("mkdir \(path)") }
        record(.created(parent: try parent(path), name: try name(path), try present(path)))
    }

    func link(_ path: RelativePath, _ new: RelativePath) throws {
        guard Glibc.link(full(path), full(new)) == 0 else { throw TestError("link") }
        record(.created(parent: try parent(new), name: try name(new), try present(new)))
    }

    func remove(_ path: RelativePath) throws {
        let status = try present(path)
        let kept = keep(path)
        defer { close(kept) }
        let result = status.kind == .directory ? rmdir(full(path)) : unlink(full(path))
        guard result == 0 else { throw TestError("remove \(path)") }
        record(.removed(parent: try parent(path), name: try name(path), inode: status.inode))
        reportOtherNames(kept)
    }

    private func keep(_ path: RelativePath) -> Int32 { open(full(path), O_RDONLY | O_NOFOLLOW) }

    /// As the driver does: names that remain learn of the link count.
    private func reportOtherNames(_ descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_nlink > 0, status.st_mode & S_IFMT == S_IFREG else { return }
        record(.attributesChanged(FileStatus(status), writersOpen: false))
    }

    func rename(_ path: RelativePath, _ new: RelativePath, isTold: Bool = true) throws {
        let replaced = status(new)?.inode
        let kept = keep(new)
        defer { close(kept) }
        let from = try parent(path)
        guard Glibc.rename(full(path), full(new)) == 0 else { throw TestError("rename \(path) \(new) \(errno)") }
        guard isTold else { return }
        record(
            .renamed(
                .init(
                    fromParent: from, fromName: try name(path), toParent: try parent(new), toName: try name(new),
                    status: try present(new), replaced: replaced)))
        reportOtherNames(kept)
    }

    func exchange(_ path: RelativePath, _ other: RelativePath) throws {
        let spare = full(path) + ".exchange"
        guard Glibc.rename(full(path), spare) == 0, Glibc.rename(full(other), full(path)) == 0,
            Glibc.rename(spare, full(other)) == 0
        else { throw TestError("exchange") }
        record(
            .renamed(
                .init(
                    fromParent: try parent(path), fromName: try name(path), toParent: try parent(other),
                    toName: try name(other), status: try present(other), exchanged: try present(path))))
    }

    /// Puts another file under the name, as an editor's rename does, without any event.
    func replace(_ path: RelativePath, _ content: String) throws {
        let staged = directory + "/staged"
        let descriptor = open(staged, O_CREAT | O_TRUNC | O_WRONLY, 0o644)
        guard descriptor >= 0 else { throw TestError("stage") }
        _ = Glibc.write(descriptor, content, content.utf8.count)
        close(descriptor)
        guard Glibc.rename(staged, full(path)) == 0 else { throw TestError("replace \(path)") }
    }

    /// Makes the file one hole, with or without the mark of a placeholder.
    func makePlaceholder(_ path: RelativePath, size: Int, isMarked: Bool = true) throws {
        guard truncate(full(path), 0) == 0, truncate(full(path), size) == 0 else { throw TestError("truncate") }
        guard isMarked else { return }
        guard setxattr(full(path), StoreAttribute.placeholder, "1", 1, 0) == 0 else { throw TestError("setxattr") }
    }

    /// Takes the content of an acknowledged document away, as an eviction does.
    func evict(_ path: RelativePath, version: String = "1") throws {
        let status = try present(path)
        try makePlaceholder(path, size: Int(status.size), isMarked: false)
        let mark = "quire-placeholder 1\ncontainer default\nversion \(version)"
        guard setxattr(full(path), StoreAttribute.placeholder, mark, mark.utf8.count, 0) == 0 else {
            throw TestError("setxattr")
        }
        record(
            .committed(
                .init(
                    .installed(
                        parent: try parent(path), name: try name(path), try present(path), dataless: true),
                    base: try base(path, version: version))))
    }

    func chmod(_ path: RelativePath, _ mode: UInt32, writersOpen: Bool = false) throws {
        guard Glibc.chmod(full(path), mode) == 0 else { throw TestError("chmod") }
        record(.attributesChanged(try present(path), writersOpen: writersOpen))
    }

    /// Without an event.
    func setTimeQuietly(_ path: RelativePath, seconds: Int) throws {
        var times = [timespec(tv_sec: seconds, tv_nsec: 0), timespec(tv_sec: seconds, tv_nsec: 0)]
        guard utimensat(AT_FDCWD, full(path), &times, 0) == 0 else { throw TestError("utimens") }
    }

    func setTime(_ path: RelativePath, seconds: Int) throws {
        try setTimeQuietly(path, seconds: seconds)
        record(.attributesChanged(try present(path), writersOpen: false, setsTimes: true))
    }

    // MARK: The provider's side

    /// The record of a provider that has exactly what is at `path` now.
    func base(
        _ path: RelativePath, container: ContainerID = .default, at other: RelativePath? = nil, version: String = "1"
    ) throws
        -> BaseRecord
    {
        let status = try present(path)
        return BaseRecord(
            container: container, path: other ?? path, kind: status.kind, version: ProviderVersion(version),
            size: status.size, mtime: status.mtime, mode: status.mode, identifier: nil, checksum: nil,
            symlinkTarget: nil)
    }

    /// Acknowledges items as they are on disk.
    func acknowledge(_ paths: RelativePath..., version: String = "1") async throws {
        try await index.settle()
        for path in paths {
            let item = try #require(try await index.item(at: path))
            index.record(
                .acknowledged(
                    .init(
                        item: item.id, base: try base(path, version: version),
                        fingerprint: try present(path).fingerprint, writersOpen: false)))
        }
        try await index.settle()
    }

    // MARK: Questions

    func item(_ path: RelativePath) async throws -> IndexItem {
        try await index.settle()
        return try #require(try await index.item(at: path), "no item at \(path)")
    }

    func find(_ path: RelativePath) async throws -> IndexItem? {
        try await index.settle()
        return try await index.item(at: path)
    }

    func pending(_ container: ContainerID = .default) async throws -> [PendingItem] {
        try await index.settle()
        var found: [PendingItem] = []
        var start: PendingCursor? = .start
        while let from = start {
            // Small pages: whatever is tested, is tested across their borders.
            let page = try await index.pendingPage(
                container: container,
                PendingRequest(
                    from: from, through: FileTime(nanoseconds: .max), deletionsThrough: FileTime(nanoseconds: .max),
                    now: clock.now, limit: 3))
            found += page.items.prefix(page.asked)
            start = page.next
        }
        return found.sortedByDepth()
    }

    /// Pending items, as `name:flags`.
    func pendingText(_ container: ContainerID = .default) async throws -> [String] {
        try await pending(container).map { item in
            let flags: [(Bool, String)] = [
                (item.isCreated, "created"), (item.isContentDirty, "content"), (item.isMetadataDirty, "metadata"),
                (item.isMoved, "moved"), (item.isDeleted, "deleted"),
            ]
            let path = item.path ?? item.base?.path ?? .root
            return "\(path): " + flags.filter(\.0).map(\.1).joined(separator: " ")
        }
    }

    func rescan() async -> RescanReport? {
        index.beginRescan()
        return await index.rescanFinished()
    }
}

extension [PendingItem] {
    /// What is here, directories before what lies in them; then what was deleted, the deepest first.
    func sortedByDepth() -> [PendingItem] {
        let sorted = map { item -> (depth: Int, path: [UInt8], item: PendingItem) in
            let path = (item.path ?? item.base?.path ?? .root).bytes
            return (path.count { $0 == UInt8(ascii: "/") }, path, item)
        }
        .sorted { $0.depth != $1.depth ? $0.depth < $1.depth : $0.path.lexicographicallyPrecedes($1.path) }
        .map(\.item)
        return sorted.filter { !$0.isDeleted } + sorted.filter(\.isDeleted).reversed()
    }
}

struct TestError: Error {
    var what: String
    init(_ what: String) { self.what = what }
}

/// A clock that tests set. Starts well after anything a test writes.
final class TestClock: Sendable {
    private let time = Lock(MetadataIndex.systemClock().nanoseconds + 60_000_000_000)
    var now: FileTime { FileTime(nanoseconds: time.withLock { $0 }) }
    func set(_ now: FileTime) { time.withLock { $0 = now.nanoseconds } }
    func advance(seconds: Int64) { time.withLock { $0 += seconds * 1_000_000_000 } }
}

func removeTree(_ path: String) {
    if let stream = opendir(path) {
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { removeTree(path + "/" + name) }
        }
        closedir(stream)
    }
    if unlink(path) != 0 { rmdir(path) }
}

/// Runs `body` with a drive that is removed afterwards.
func withDrive(
    containers: ContainerLayout = .single, keepsContent: Bool = false, _ body: (TestDrive) async throws -> Void
) async throws {
    let drive = try TestDrive(containers: containers, keepsContent: keepsContent)
    defer { drive.remove() }
    try await body(drive)
}
