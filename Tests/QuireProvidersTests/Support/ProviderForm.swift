import Glibc
import QuireCore
import QuireProviders
import Testing

/// The providers that the conformance suite runs against.
enum ProviderForm: String, Sendable, CaseIterable, CustomTestStringConvertible {
    case memory
    case memoryOfAnObjectStore
    case folderOnDisk
    case folderOnTmpfs
    case apache, lighttpd, nginx, sabre, rclone
    case seaweedfs, moto, ceph

    /// Those that need nothing, and the servers that were started for this run.
    static var allCases: [ProviderForm] {
        [.memory, .memoryOfAnObjectStore] + folders
            + (servers + stores).filter { TestServer.started[$0.rawValue] != nil }
    }

    /// WebDAV servers.
    static let servers: [ProviderForm] = [.apache, .lighttpd, .nginx, .sabre, .rclone]
    /// Object stores.
    static let stores: [ProviderForm] = [.seaweedfs, .moto, .ceph]
    /// Whose versions are made of content.
    static let versionsByContent = stores + [.sabre]

    var testDescription: String { rawValue }

    static let folders: [ProviderForm] = [.folderOnDisk, .folderOnTmpfs]

    /// A fresh, connected storage of this form.
    func open(hooks: FolderHooks = FolderHooks()) async throws -> Bench {
        let work = try TemporaryDirectory()
        switch self {
        case .memory: return try await Bench(MemoryProvider(), MemoryProvider(), work, nil, same: true)
        case .memoryOfAnObjectStore:
            return try await Bench(
                MemoryProvider(capabilities: MemoryProvider.plain), MemoryProvider(), work, nil, same: true)
        case .folderOnDisk, .folderOnTmpfs:
            let root = try TemporaryDirectory(in: self == .folderOnDisk ? "/tmp" : "/dev/shm")
            return try await Bench(
                FolderProvider(root: root.path, hooks: hooks), FolderProvider(root: root.path), work, root, same: false)
        case .apache, .lighttpd, .nginx, .sabre, .rclone:
            let account = try await TestServer.account(rawValue)
            return try await Bench(account.provider(), account.provider(), work, account.directory, same: false)
        case .seaweedfs, .moto, .ceph:
            let store = try await S3TestStore(rawValue)
            return try await Bench(store.provider(), store.provider(), work, nil, same: false)
        }
    }
}

/// A storage under test, with what tests do to it in a word.
final class Bench: Sendable {
    static let mtime = FileTime(seconds: 1_600_000_000, nanoseconds: 123_456_789)

    let provider: any DocumentProvider
    /// The same storage as another device has it.
    let other: any DocumentProvider
    let identity: String
    let work: TemporaryDirectory
    /// Of a folder, or of a server's account.
    let root: TemporaryDirectory?

    init(
        _ provider: any DocumentProvider, _ other: any DocumentProvider, _ work: TemporaryDirectory,
        _ root: TemporaryDirectory?, same: Bool
    ) async throws {
        self.provider = provider
        self.other = same ? provider : other
        self.work = work
        self.root = root
        self.identity = try await provider.connect(expected: nil)
        _ = try await self.other.connect(expected: identity)
    }

    /// Where a folder keeps the document at `path`.
    func file(_ path: String) -> String { (root?.path ?? "/nowhere") + "/" + path }

    func content(_ bytes: [UInt8]) -> UploadContent {
        let path = work.appending("snapshot-\(UInt64.random(in: 0 ... .max))")
        Plain.write(bytes, to: Array(path.utf8))
        return UploadContent(
            snapshotPath: path, size: ByteCount(Int64(bytes.count)), checksum: ContentChecksum.sha256(of: bytes))
    }

    func content(_ text: String) -> UploadContent { content(Array(text.utf8)) }

    static func attributes(_ mode: UInt16 = 0o644, _ mtime: FileTime = Bench.mtime) -> RemoteAttributes {
        RemoteAttributes(mtime: mtime, mode: mode)
    }

    @discardableResult
    func put(_ path: RelativePath, _ text: String, _ expecting: Precondition = .absent) async throws -> RemoteItem {
        try await provider.put(path, content: content(text), attributes: Bench.attributes(), expecting: expecting)
    }

    @discardableResult
    func directory(_ path: RelativePath) async throws -> RemoteItem {
        try await provider.createDirectory(path, attributes: Bench.attributes(0o755))
    }

    func fetch(_ item: RemoteItem) async throws -> (item: RemoteItem, bytes: [UInt8]) {
        let path = work.appending("fetched-\(UInt64.random(in: 0 ... .max))")
        let fetched = try await provider.fetch(item.path, version: item.version, to: path) { _ in }
        return (fetched, try #require(Plain.read(path)))
    }

    /// The text at `path` now.
    func text(_ path: RelativePath) async throws -> String? {
        guard let item = try await provider.item(at: path) else { return nil }
        return String(decoding: try await fetch(item).bytes, as: UTF8.self)
    }

    /// Everything that is listed, by path.
    func listing() async throws -> [RelativePath: RemoteItem] {
        guard case .everything(let items, _) = try await provider.changes(since: nil) else { return [:] }
        return Dictionary(uniqueKeysWithValues: items.map { ($0.path, $0) })
    }

    /// Whether an upload of `size` bytes lies whole in the folder's `tmp`.
    func isStaged(size: Int) -> Bool {
        leftovers.contains { name in
            var status = stat()
            return stat(file(".quire/tmp/\(name)"), &status) == 0 && status.st_size == size
        }
    }

    /// Names left in the folder's `tmp`.
    var leftovers: [String] { Plain.names(in: file(".quire/tmp")) }
}

/// The code that `body` was refused with; nil when it was not.
func refusal<Value>(_ body: () async throws -> Value) async -> ProviderError.Code? {
    do {
        _ = try await body()
        return nil
    } catch {
        return (error as? ProviderError)?.code
    }
}
