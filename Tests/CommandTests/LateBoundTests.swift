import Glibc
import QuireCoordination
import QuireCore
import QuireIndex
import QuireStore
import QuireSync
import Testing

@testable import QuireMain

/// Hears nothing.
private struct DeafSink: StoreEventSink {
    func record(_ event: StoreEvent) {}
}

@Suite("What is opened before the engine is there", .timeLimit(.minutes(1)))
struct LateBoundTests {
    private func service(_ home: DriveHome, _ index: MetadataIndex) throws -> SyncService {
        let tree = try home.openStore()
        return SyncService(
            environment: SyncEnvironment(
                index: IndexedDrive(index, tree: tree), committer: StoreCommitter(tree: tree, sink: DeafSink()),
                coordinator: Coordinator(), tree: tree, staging: home.staging, partialPath: home.partialPath,
                versions: home.keptVersions, settings: SyncSettings(deviceName: "test")),
            containers: [])
    }

    @Test("waits for it")
    func waits() async throws {
        let directory = try TemporaryDirectory()
        let home = DriveHome(path: directory.path + "/home")
        try home.createLayout()
        let (index, _) = try MetadataIndex.open(at: home.indexPath, driveRoot: home.storePath)
        defer { index.close() }
        let late = LateSync()
        let opening = Task.immediate { try await late.open(path: "doc", inode: 1) }
        await late.bind(try service(home, index))
        #expect(try await opening.value == nil)
    }

    @Test("finds the pause that an earlier daemon had")
    func paused() async throws {
        let directory = try TemporaryDirectory()
        let home = DriveHome(path: directory.path + "/home")
        try home.createLayout()
        let (index, _) = try MetadataIndex.open(at: home.indexPath, driveRoot: home.storePath)
        defer { index.close() }
        try await index.setValue(SyncService.pauseKey, PauseEnd.never.text)
        let service = try service(home, index)
        let late = LateSync()
        let opening = Task.immediate {
            _ = try await late.open(path: "doc", inode: 1)
            return service.pauseEnd
        }
        await late.bind(service)
        #expect(try await opening.value == .never)
    }

    @Test("can be interrupted")
    func interrupted() async throws {
        let late = LateSync()
        let opening = Task.immediate { try await late.materialize(path: "doc", inode: 1) }
        opening.cancel()
        await #expect { try await opening.value } throws: { ($0 as? MaterializeError)?.errno == EINTR }
    }
}
