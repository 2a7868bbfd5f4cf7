import Glibc
import QuireCore
import Synchronization
import Testing

@testable import QuireStore

/// A fresh directory with a store and a staging directory in it; removed with all its content in the end.
final class TemporaryDirectory: Sendable {
    let path: String
    let home: DriveHome
    let tree: DriveTree
    var staging: Staging { home.staging }

    init(in base: String = "/tmp") throws {
        var template = Array("\(base)/quire-store-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw StoreError(errno: errno, "create a directory in", base) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        home = DriveHome(path: path + "/home")
        try home.createLayout()
        tree = try home.openStore()
    }

    deinit {
        do {
            try Staging(path: path).sweep()
        } catch {
            Issue.record("cannot remove \(path): \(error)")
        }
        rmdir(path)
    }

    /// Creates or rewrites a file, and sets its time well into the past.
    @discardableResult
    func write(_ text: String, to path: RelativePath, mode: UInt16 = 0o644) throws -> FileStatus {
        let file = try tree.open(path, O_RDWR | O_CREAT | O_TRUNC, mode: mode)
        let bytes = Array(text.utf8)
        #expect(Glibc.write(file.rawValue, bytes, bytes.count) == bytes.count)
        try file.setMode(mode, path.description)
        try file.setModificationTime(FileTime(seconds: 1_700_000_000, nanoseconds: 5), path.description)
        return try file.status()
    }

    /// A finished file in staging.
    func stage(_ text: String, mtime: FileTime = FileTime(seconds: 1_800_000_000, nanoseconds: 7)) throws -> String {
        let file = try staging.createFile()
        let bytes = Array(text.utf8)
        #expect(Glibc.write(file.descriptor.rawValue, bytes, bytes.count) == bytes.count)
        let path = file.keep()
        try staging.finish(path, mtime: mtime, mode: 0o640)
        return path
    }

    func read(_ path: RelativePath) throws -> String {
        let file = try tree.openForReading(path)
        var bytes = [UInt8](repeating: 0, count: Int(try file.status().size))
        #expect(Glibc.read(file.rawValue, &bytes, bytes.count) == bytes.count)
        return String(decoding: bytes, as: UTF8.self)
    }

    func names(_ directory: RelativePath = .root) throws -> [String] {
        try tree.list(directory).map(\.name.description).sorted()
    }

    /// What lies in the staging directory.
    func stagedNames() throws -> [String] {
        try DriveTree(opening: home.stagingPath).list(.root).map(\.name.description)
    }
}

/// Collects events.
final class EventLog: StoreEventSink {
    private let state = Lock<[StoreEvent]>([])
    var events: [StoreEvent] { state.withLock { $0 } }
    func record(_ event: StoreEvent) { state.withLock { $0.append(event) } }
}

/// How many descriptors this process has.
func openDescriptorCount() throws -> Int { try DriveTree(opening: "/proc/self/fd").list(.root).count }

/// The code of the `StoreError` that `body` throws; nil where it throws none.
func code(_ body: () throws(StoreError) -> Void) -> StoreError.Code? {
    do {
        try body()
        return nil
    } catch {
        return error.code
    }
}

/// A clock far enough on that nothing is racy.
func later() -> FileTime { FileTime(nanoseconds: WallClock.now().nanoseconds + 1_000_000_000) }
