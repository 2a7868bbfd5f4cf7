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
    @Test("waits for it")
    func waits() async throws {
        let directory = try TemporaryDirectory()
        let home = DriveHome(path: directory.path + "/home")
        try home.createLayout()
        let tree = try home.openStore()
        let (index, _) = try MetadataIndex.open(at: home.indexPath, driveRoot: home.storePath)
        defer { index.close() }
        let late = LateSync()
        let opening = Task.immediate { try await late.open(path: "doc", inode: 1) }
        late.bind(
            SyncService(
                environment: SyncEnvironment(
                    index: IndexedDrive(index, tree: tree), committer: StoreCommitter(tree: tree, sink: DeafSink()),
                    coordinator: Coordinator(), tree: tree, staging: home.staging, partialPath: home.partialPath,
                    versions: home.keptVersions, settings: SyncSettings(deviceName: "test")),
                containers: []))
        #expect(try await opening.value == nil)
    }

    @Test("can be interrupted")
    func interrupted() async throws {
        let late = LateSync()
        let opening = Task.immediate { try await late.materialize(path: "doc", inode: 1) }
        opening.cancel()
        await #expect { try await opening.value } throws: { ($0 as? MaterializeError)?.errno == EINTR }
    }
}
