import Foundation
import QuireCoordination
import QuireCore
import QuireIndex
import QuireStore
import QuireSync
import Synchronization
import Testing

@testable import QuireMain

/// Records nothing.
private struct NoEvents: StoreEventSink {
    func record(_ event: StoreEvent) {}
}

/// What is done the first time only.
private final class Once: Sendable {
    private let isDone = Atomic(false)
    var isFirst: Bool { !isDone.exchange(true, ordering: .relaxed) }
}

@Suite("Restoring a version")
struct RestoreTests {
    let directory: TemporaryDirectory
    let home: DriveHome
    let tree: DriveTree
    var versions: KeptVersions

    init() throws {
        directory = try TemporaryDirectory()
        home = DriveHome(path: directory.path + "/home")
        try home.createLayout()
        tree = try home.openStore()
        versions = home.keptVersions
        try directory.write("home/drive/doc", "of today")
    }

    private func service() throws -> VersionService {
        let view = DriveView(
            catalog: FixedCatalog([.file("doc", status: try tree.requiredStatus(at: "doc"))]), tree: tree,
            searchesContent: false, providerName: { _ in "p" }, transfer: { _ in nil }, transfers: { [:] })
        return VersionService(view: view, versions: versions, staging: home.staging)
    }

    private func restore() async throws {
        let service = try service()
        try directory.write("home/staging/version", "of yesterday")
        let staged = home.stagingPath + "/version"
        defer { home.staging.discard(staged) }
        try await service.install(
            staged, at: "doc", StoreCommitter(tree: tree, sink: NoEvents()),
            now: { FileTime(nanoseconds: WallClock.now().nanoseconds + 1_000_000_000) })
    }

    private func isBusy() async throws -> Bool {
        do { try await restore() } catch let error as QuireError { return error.code == .busy }
        return false
    }

    private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }
    private func document() throws -> String { try text(home.storePath + "/doc") }
    private func kept() throws -> [String] { try versions.list(ItemID(1)).map { try text($0.path) } }

    @Test("What was there is kept; nothing is left in staging")
    func restored() async throws {
        try await restore()
        #expect(try document() == "of yesterday" && kept() == ["of today"])
        #expect(try DriveTree(opening: home.stagingPath).list(.root).isEmpty)
    }

    @Test("What is saved once the former content was kept is not lost")
    mutating func savedMeanwhile() async throws {
        let (directory, saved) = (directory, Once())
        versions.whenKept = {
            guard saved.isFirst else { return }
            #expect(throws: Never.self) { try directory.write("home/drive/doc", "saved") }
        }
        #expect(try await isBusy())
        // What nothing was done about needs no version.
        #expect(try document() == "saved" && kept().isEmpty)
        try await restore()
        #expect(try document() == "of yesterday" && kept() == ["saved"])
    }

    @Test("A document whose content is not here is not replaced")
    func dataless() async throws {
        try makeDataless()
        #expect(try await isBusy())
        #expect(try Placeholder.mark(at: "doc", in: tree).isDataless && kept().isEmpty)
    }

    private func makeDataless() throws {
        let staged = try Placeholder.create(
            Placeholder(version: ProviderVersion("v"), container: .default), size: ByteCount(8),
            mtime: FileTime(nanoseconds: 5), mode: 0o600, in: home.staging)
        #expect(rename(staged, home.storePath + "/doc") == 0)
    }

    @Test("Where the document's content cannot be brought here, it is told where the version is")
    func notBrought() async throws {
        try makeDataless()
        let (index, _) = try MetadataIndex.open(at: home.indexPath, driveRoot: home.storePath)
        defer { index.close() }
        index.beginRescan()
        _ = await index.rescanFinished()
        let committer = StoreCommitter(tree: tree, sink: NoEvents())
        // Its container is kept nowhere.
        let sync = SyncService(
            environment: SyncEnvironment(
                index: IndexedDrive(index, tree: tree), committer: committer, coordinator: Coordinator(), tree: tree,
                staging: home.staging, partialPath: home.partialPath, versions: versions,
                settings: SyncSettings(deviceName: "test")),
            containers: [])
        try directory.write("home/staging/version", "of yesterday")
        let version = try versions.keep(staged: home.stagingPath + "/version", of: ItemID(1), origin: "doc")
        let error = await #expect(throws: QuireError.self) {
            try await service().restore("doc", version: version.name, sync: sync, committer: committer)
        }
        #expect(error?.remedy?.contains("cp \(version.path)") == true)
        #expect(try Placeholder.mark(at: "doc", in: tree).isDataless && kept() == ["of yesterday"])
        #expect(try DriveTree(opening: home.stagingPath).list(.root).isEmpty)
    }
}
