import Logging
import QuireCoordination
import QuireCore
import QuireIndex
import QuireProviders
import QuireStore
import Synchronization
import Testing

@testable import QuireMain
@testable import QuireSync

/// Of a store, in memory.
private final class RememberedIdentity: StoreIdentity {
    private let identity = Lock<String?>(nil)

    func known() -> String? { identity.withLock { $0 } }
    func note(_ found: String) { identity.withLock { $0 = found } }
}

@Suite("After the index was built anew", .timeLimit(.minutes(1)))
struct RebuildServiceTests {
    let directory: TemporaryDirectory
    let home: DriveHome
    let tree: DriveTree
    let index: MetadataIndex
    let memory = MemoryProvider()

    init() throws {
        directory = try TemporaryDirectory()
        home = DriveHome(path: directory.path + "/home")
        try home.createLayout()
        tree = try home.openStore()
        index = try MetadataIndex.open(at: home.indexPath, driveRoot: home.storePath).0
    }

    private func sync() -> SyncService {
        SyncService(
            environment: SyncEnvironment(
                index: IndexedDrive(index, tree: tree), committer: StoreCommitter(tree: tree, sink: index),
                coordinator: Coordinator(), tree: tree, staging: home.staging, partialPath: home.partialPath,
                versions: home.keptVersions, settings: SyncSettings(deviceName: "test")),
            containers: [
                SyncedContainer(
                    id: .default, root: .root, providerName: "main", provider: memory, identity: RememberedIdentity())
            ])
    }

    @Test("engines go on, though nothing can be noted just then")
    func notNoted() async throws {
        defer { index.close() }
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let drive = DriveIndex(index: index, tree: tree, logger: logger)
        // Whatever is asked of it, it throws.
        let closed = try MetadataIndex.open(at: directory.path + "/closed.sqlite", driveRoot: home.storePath).0
        closed.close()
        let binding = ProviderBinding(
            index: DriveIndex(index: closed, tree: tree, logger: logger), stores: KnownStores(home: home.path))
        let configuration = Configuration(
            deviceID: "test", deviceName: "test",
            providers: [.init(name: "main", url: "folder:/main", isDefault: true, identity: nil)])
        let sync = sync()
        #expect(await binding.renewAll(configuration, sync.containers).count == 1)
        let service = RebuildService(
            index: drive, queries: LiveQueries(index, transfers: { [:] }, logger: logger), sync: sync,
            renewBindings: { [containers = sync.containers] in await binding.renewAll(configuration, containers) },
            logger: logger)
        try directory.write("home/drive/doc", "text")
        index.beginRescan()
        await sync.hold { _ in }
        #expect(sync.pausing.isHeld)
        await service.finish()
        #expect(!sync.pausing.isHeld)
        #expect(await sync.syncNow(timeout: .seconds(30)) == .settled)
        #expect(memory.contents(at: "doc") == Array("text".utf8))
    }
}
