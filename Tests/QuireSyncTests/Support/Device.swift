import CLinux
import GRDB
import Glibc
import Logging
import QuireCoordination
import QuireCore
@testable import QuireIndex
import QuireStore
@testable import QuireSync
import Synchronization

/// A drive without a mount: its edits record the events that the driver would.
final class Device {
    let name: String
    let home: DriveHome
    let clock: TestClock
    let metadata: MetadataIndex
    let index: IndexedDrive
    let tree: DriveTree
    let service: SyncService
    private let environment: SyncEnvironment
    let committer: StoreCommitter
    let coordinator = Coordinator()
    let room = WriteRoom()
    /// Inodes that some program has open for writing.
    let openForWriting = InodeSet()
    /// What is done once a version has been kept.
    let whenKept = Meanwhile()
    /// What is done once sync is about to change the store.
    let whenCommitting = Meanwhile()
    static let counter = Counter()
    private let identity = RememberedIdentity()
    private let acceptsLossy: Bool

    /// - Parameters:
    ///   - pushPart, pullPart: small by default, so that whatever is tested is tested across the borders of parts.
    ///   - claimDeadline: on the machine's clock.
    ///   - calls: by which the index looks at the store.
    ///   - existing: the home of a device whose daemon has ended.
    init(
        _ name: String, provider: any DocumentProvider, clock: TestClock, pushPart: Int = 3,
        pullPart: Int = 2, parallel: Int? = nil, pollInterval: Duration? = nil, downloadDeadline: Duration? = nil,
        openFileQuietTime: Duration = .seconds(10), claimDeadline: Duration = .seconds(10),
        limits: SpaceLimits = SpaceLimits(), calls: StoreCalls = StoreCalls(), existing: DriveHome? = nil,
        acceptsLossy: Bool = false
    ) throws {
        self.name = name
        self.acceptsLossy = acceptsLossy
        self.clock = clock
        home = existing ?? DriveHome(path: "/tmp/quire-sync-\(getpid())-\(Device.counter.next())-\(name)")
        try home.createLayout()
        tree = try home.openStore()
        let lister = StoreLister(root: home.storePath, calls: calls)
        (metadata, _) = try MetadataIndex.open(at: home.indexPath, lister: lister, clock: { clock.now })
        index = IndexedDrive(metadata, tree: tree)
        metadata.beginRescan()
        let writers = openForWriting
        committer = StoreCommitter(tree: tree, sink: index) { writers.contains($0) ? .writing : .closed }
        var versions = home.keptVersions
        versions.whenKept = whenKept.happen
        var settings = SyncSettings(deviceName: name)
        settings.pushPart = pushPart
        settings.pullPart = pullPart
        settings.checksumRest = .milliseconds(1)
        if let parallel { settings.parallelTransfers = parallel }
        if let pollInterval { settings.pollInterval = pollInterval }
        if let downloadDeadline { settings.downloadDeadline = downloadDeadline }
        settings.claimDeadline = claimDeadline
        settings.openFileQuietTime = openFileQuietTime
        settings.openFileLimit = max(settings.openFileLimit, openFileQuietTime)
        environment = SyncEnvironment(
            index: index, committer: WatchedCommitter(committer, whenCommitting), coordinator: coordinator, tree: tree,
            staging: home.staging, partialPath: home.partialPath,
            versions: versions, settings: settings, clock: clock.syncClock, limits: limits, room: room)
        service = SyncService(
            environment: environment,
            containers: [Self.container(provider, identity, acceptsLossy)],
            logger: Device.logger(name))
    }

    private static func container(
        _ provider: any DocumentProvider, _ identity: RememberedIdentity, _ acceptsLossy: Bool
    ) -> SyncedContainer {
        SyncedContainer(
            id: .default, root: .root, providerName: "main", provider: provider, identity: identity,
            acceptsLossy: acceptsLossy)
    }

    /// What a daemon that starts now would have, beside the index of the one before.
    func restartedService(_ provider: any DocumentProvider) -> SyncService {
        SyncService(
            environment: environment,
            containers: [Self.container(provider, identity, acceptsLossy)],
            logger: Device.logger(name))
    }

    /// Whether it is written down how much of an item is here.
    func hasMap(_ item: ItemID) -> Bool { access("\(home.partialPath)/\(item).map", F_OK) == 0 }

    /// How much of an item is written down to be here: what the next daemon finds.
    func noted(_ item: ItemID) throws -> Int64 {
        guard hasMap(item) else { return 0 }
        let left = try PartialContent.left(in: home.partialPath, staging: home.staging)
        return left.first { $0.subject.item == item }?.present ?? 0
    }

    /// Silent; with QUIRE_SYNC_LOG set, everything goes to standard error.
    static func logger(_ name: String) -> Logger {
        guard getenv("QUIRE_SYNC_LOG") != nil else { return Logger(label: name) { _ in SwiftLogNoOpLogHandler() } }
        var logger = Logger(label: name) { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .debug
        return logger
    }

    deinit {
        metadata.close()
        remove()
    }

    private func remove() {
        func clear(_ path: RelativePath, _ tree: DriveTree) {
            for entry in (try? tree.list(path)) ?? [] {
                let child = path.appending(entry.name)
                if entry.status.kind == .directory { clear(child, tree) }
                try? tree.remove(child)
            }
        }
        if let whole = try? DriveTree(opening: home.path) { clear(.root, whole) }
        rmdir(home.path)
    }

    /// A time that no file had before, in the past.
    private func freshTime() -> FileTime {
        FileTime(nanoseconds: 1_700_000_000_000_000_000 + Device.counter.next() * 1_000_000)
    }

    private func absolute(_ path: RelativePath) -> String { "\(home.storePath)/\(path)" }

    private func parent(_ path: RelativePath) throws -> UInt64 {
        try tree.requiredStatus(at: path.parent ?? .root).inode
    }

    private func name(_ path: RelativePath) -> FileName { path.name ?? "x" }

    private func stamp(_ path: RelativePath) {
        let time = timespec(tv_sec: freshTime().seconds, tv_nsec: freshTime().subsecondNanoseconds)
        utimensat(AT_FDCWD, absolute(path), [time, time], AT_SYMLINK_NOFOLLOW)
    }

    /// Whether the index can write nothing, as on a failing disk.
    func refuseCommits(_ isRefused: Bool) throws {
        try metadata.database.use { pool in
            try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA query_only = \(isRefused ? 1 : 0)") }
        }
    }

    // MARK: - edits

    func write(_ path: RelativePath, _ text: String) throws {
        let isNew = try tree.status(at: path) == nil
        if !isNew, try Placeholder.mark(at: path, in: tree).isDataless { throw StoreError(.dataless, "\(path)") }
        let descriptor = Glibc.open(absolute(path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw StoreError(errno: errno, "open", "\(path)") }
        fchmod(descriptor, isNew ? 0o644 : mode_t(try tree.requiredStatus(at: path).mode))
        if isNew {
            index.record(.created(parent: try parent(path), name: name(path), try tree.requiredStatus(at: path)))
        }
        _ = Array(text.utf8).withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        close(descriptor)
        stamp(path)
        let status = try tree.requiredStatus(at: path)
        index.record(.contentChanged(status, writersOpen: openForWriting.contains(status.inode)))
    }

    /// What the driver does where a program empties a dataless document.
    func empty(_ path: RelativePath) throws {
        guard truncate(absolute(path), 0) == 0 else { throw StoreError(errno: errno, "empty", "\(path)") }
        guard removexattr(absolute(path), StoreAttribute.placeholder) == 0 else {
            throw StoreError(errno: errno, "unmark", "\(path)")
        }
        index.record(.contentChanged(try tree.requiredStatus(at: path), writersOpen: false))
    }

    /// What a program writes into a file of the store while there is no daemon: the file stays, with its attributes.
    func writeUnseen(_ path: RelativePath, _ text: String) throws { try writeUnseen(path, text, O_TRUNC) }

    /// As `writeUnseen`, into a file that is new.
    func createUnseen(_ path: RelativePath, _ text: String) throws { try writeUnseen(path, text, O_CREAT | O_EXCL) }

    func renameUnseen(_ from: RelativePath, _ to: RelativePath) throws { try tree.rename(from, to: to) }

    private func writeUnseen(_ path: RelativePath, _ text: String, _ flags: Int32) throws {
        let descriptor = Glibc.open(absolute(path), O_WRONLY | flags, 0o644)
        guard descriptor >= 0 else { throw StoreError(errno: errno, "open", "\(path)") }
        _ = Array(text.utf8).withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        close(descriptor)
        stamp(path)
    }

    func makeDirectory(_ path: RelativePath) throws {
        try tree.createDirectory(path)
        index.record(.created(parent: try parent(path), name: name(path), try tree.requiredStatus(at: path)))
    }

    func link(_ path: RelativePath, to target: String) throws {
        try tree.createLink(path, target: Array(target.utf8))
        stamp(path)
        index.record(.created(parent: try parent(path), name: name(path), try tree.requiredStatus(at: path)))
    }

    func remove(_ path: RelativePath) throws {
        let status = try tree.requiredStatus(at: path)
        let parent = try parent(path)
        if status.kind == .directory {
            for entry in try tree.list(path) { try remove(path.appending(entry.name)) }
        }
        try tree.remove(path)
        index.record(.removed(parent: parent, name: name(path), inode: status.inode))
    }

    func rename(_ from: RelativePath, _ to: RelativePath) throws {
        let (fromParent, toParent) = (try parent(from), try parent(to))
        let replaced = try tree.status(at: to)?.inode
        guard Glibc.rename(absolute(from), absolute(to)) == 0 else {
            throw StoreError(errno: errno, "rename", "\(from)")
        }
        index.record(
            .renamed(
                StoreEvent.Rename(
                    fromParent: fromParent, fromName: name(from), toParent: toParent, toName: name(to),
                    status: try tree.requiredStatus(at: to), replaced: replaced)))
    }

    /// As `renameat2` with RENAME_EXCHANGE.
    func exchange(_ from: RelativePath, _ to: RelativePath) throws {
        let (fromParent, toParent) = (try parent(from), try parent(to))
        guard quire_renameat2(AT_FDCWD, absolute(from), AT_FDCWD, absolute(to), quire_RENAME_EXCHANGE) == 0 else {
            throw StoreError(errno: errno, "exchange", "\(from)")
        }
        index.record(
            .renamed(
                StoreEvent.Rename(
                    fromParent: fromParent, fromName: name(from), toParent: toParent, toName: name(to),
                    status: try tree.requiredStatus(at: to), exchanged: try tree.requiredStatus(at: from))))
    }

    /// Takes the content of a file away as an eviction does, of which the index has not heard yet.
    func makeDataless(
        _ path: RelativePath, _ mark: Placeholder = Placeholder(version: ProviderVersion("v"), container: .default)
    ) throws {
        let status = try tree.requiredStatus(at: path)
        let staged = try Placeholder.create(
            mark, size: ByteCount(status.size), mtime: status.mtime, mode: status.mode, in: home.staging)
        guard Glibc.rename(staged, absolute(path)) == 0 else { throw StoreError(errno: errno, "rename", "\(path)") }
    }

    func chmod(_ path: RelativePath, _ mode: UInt16) throws {
        guard Glibc.chmod(absolute(path), mode_t(mode)) == 0 else { throw StoreError(errno: errno, "chmod", "\(path)") }
        index.record(.attributesChanged(try tree.requiredStatus(at: path), writersOpen: false))
    }

    func touch(_ path: RelativePath) throws {
        stamp(path)
        index.record(.attributesChanged(try tree.requiredStatus(at: path), writersOpen: false, setsTimes: true))
    }

    // MARK: - looking

    /// The text of a file; nil where none is, or only a placeholder.
    func text(_ path: RelativePath) throws -> String? {
        guard try tree.status(at: path)?.kind == .file, try !Placeholder.mark(at: path, in: tree).isDataless else {
            return nil
        }
        return Self.text(of: try tree.openForReading(path))
    }

    static func text(of file: borrowing OwnedDescriptor) -> String {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = buffer.withUnsafeMutableBytes { read(file.rawValue, $0.baseAddress, $0.count) }
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }

    func isDataless(_ path: RelativePath) throws -> Bool { try Placeholder.mark(at: path, in: tree).isDataless }

    func open(_ path: RelativePath) async throws -> String? {
        if try isDataless(path) {
            try await service.materialize(path: path, inode: try tree.requiredStatus(at: path).inode)
        }
        return try text(path)
    }

    /// Every entry with kind, size, mode and, but for directories, mtime.
    func listing() throws -> [RelativePath: String] {
        var found: [RelativePath: String] = [:]
        func walk(_ directory: RelativePath) throws {
            for entry in try tree.list(directory) {
                let path = directory.appending(entry.name)
                let status = entry.status
                switch status.kind {
                case .directory:
                    found[path] = "dir \(String(status.mode, radix: 8))"
                    try walk(path)
                case .symlink: found[path] = "link \(String(decoding: try tree.readLink(path), as: UTF8.self))"
                default:
                    found[path] =
                        "\(status.kind.rawValue) \(status.size) \(String(status.mode, radix: 8)) \(status.mtime.nanoseconds)"
                }
            }
        }
        try walk(.root)
        return found
    }

    /// All that is not as the provider has it.
    func pending() async throws -> [PendingChange] {
        var found: [PendingChange] = []
        var start: PendingCursor? = .start
        while let from = start {
            let part = try await index.pending(
                .default,
                PendingRequest(
                    from: from, through: FileTime(nanoseconds: .max), deletionsThrough: FileTime(nanoseconds: .max),
                    now: clock.now, limit: 100))
            found += part.changes.prefix(part.asked)
            start = part.next
        }
        return found
    }

    /// The texts of all kept versions.
    func kept() throws -> [String] {
        let versions = home.keptVersions
        return try versions.items().flatMap { try versions.list($0) }.map {
            Device.text(of: try OwnedDescriptor.open($0.path, 0))
        }
    }

    @discardableResult
    func sync() async -> SyncResult { await service.syncNow(timeout: nil) }
}

final class Counter: Sendable {
    private let value = Atomic<Int64>(0)
    func next() -> Int64 { value.add(1, ordering: .relaxed).newValue }
}

final class InodeSet: Sendable {
    private let inodes = Lock<Set<UInt64>>([])
    /// Called once, when next asked: right before a change of a file is made in the store.
    let beforeAnswer = Lock<(@Sendable () -> Void)?>(nil)
    func insert(_ inode: UInt64) { _ = inodes.withLock { $0.insert(inode) } }
    func removeAll() { inodes.withLock { $0 = [] } }
    func contains(_ inode: UInt64) -> Bool {
        beforeAnswer.withLock { $0.take() }?()
        return inodes.withLock { $0.contains(inode) }
    }
}
