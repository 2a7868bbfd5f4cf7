import GRDB
import QuireCore
import Synchronization
import Testing

@testable import QuireIndex

/// Random operations on a real directory, their events delayed at random while a rescan goes on: in the end the index
/// is what a new one finds.
@Suite("Random events")
struct RandomEventsTests {
    @Test("events in any delay, with rescans between, end as the store is", arguments: 1...12)
    func converges(seed: UInt64) async throws {
        try await withDrive { drive in
            var random = SplitMix(state: seed)
            drive.delayed.withLock { $0 = [] }
            for step in 0..<400 {
                try randomOperation(drive, &random)
                if random.chance(1, in: 4) { flush(drive, random.upTo(30)) }
                if random.chance(1, in: 60) { drive.index.beginRescan() }
                if random.chance(1, in: 25) { await Task.yield() }
                if step % 100 == 99 {
                    flush(drive, .max)
                    try await drive.index.settle()
                    _ = await drive.index.rescanFinished()
                    let found = try await acknowledgeSome(drive, &random)
                    #expect(found, "seed \(seed)")
                }
            }
            flush(drive, .max)
            try await drive.index.settle()
            _ = await drive.index.rescanFinished()
            // Directories that an event did not fit are listed within a moment; a whole rescan has them, too.
            let report = await drive.rescan()
            #expect(report?.failure == nil)
            let live = try await snapshot(drive.index)
            let (fresh, _) = try MetadataIndex.open(at: drive.directory + "/fresh.sqlite", driveRoot: drive.store)
            defer { fresh.close() }
            fresh.beginRescan()
            _ = await fresh.rescanFinished()
            let rebuilt = try await snapshot(fresh)
            #expect(live == rebuilt, "seed \(seed)")
            try await checkLinks(drive.index, seed)
        }
    }

    @Test("operations while nobody looks are found by one rescan", arguments: 201...206)
    func offline(seed: UInt64) async throws {
        try await withDrive { drive in
            var random = SplitMix(state: seed)
            for _ in 0..<150 { try randomOperation(drive, &random) }
            _ = try await acknowledgeSome(drive, &random)
            drive.isWatched = false
            for _ in 0..<150 { try randomOperation(drive, &random) }
            _ = await drive.rescan()
            let live = try await snapshot(drive.index)
            let (fresh, _) = try MetadataIndex.open(at: drive.directory + "/fresh.sqlite", driveRoot: drive.store)
            defer { fresh.close() }
            fresh.beginRescan()
            _ = await fresh.rescanFinished()
            #expect(try await live == snapshot(fresh), "seed \(seed)")
            try await checkLinks(drive.index, seed)
        }
    }

    // MARK: Checks

    /// What must be equal: everything but ids and what the provider has. A directory's times are not followed.
    private func snapshot(_ index: MetadataIndex) async throws -> [RelativePath: LocalRecord] {
        var result: [RelativePath: LocalRecord] = [:]
        for item in try await index.find(ItemQuery()) {
            var local = item.local
            if local.kind == .directory {
                (local.size, local.mtime, local.ctime) = (0, FileTime(nanoseconds: 0), FileTime(nanoseconds: 0))
                local.linkCount = 0
            }
            result[item.path] = local
        }
        return result
    }

    /// Derived columns are what they are derived from, and every base is linked or pending for deletion.
    private func checkLinks(_ index: MetadataIndex, _ seed: UInt64) async throws {
        let wrong = try await index.read("rows") { db -> [String] in
            let rows = try db.all("SELECT \(ItemRow.columns) FROM \(ItemRow.tables)", read: ItemRow.init)
            let stale = rows.filter { $0.difference.rawValue != $0.pending || $0.parent == Schema.limbo }
            let bases = try db.all(
                """
                SELECT b.id, b.orphan, i.id FROM bases b LEFT JOIN items i ON i.base = b.id
                WHERE (i.id IS NULL) <> (b.orphan = 1) AND b.version <> ''
                """, read: { "base \($0.integer(0)), orphan \($0.integer(1)), item \($0.integer(2))" })
            return stale.map { "\($0)" } + bases
        }
        #expect(wrong == [], "seed \(seed)")
    }

    /// As a sync would: acknowledges what is pending as it is on disk, and drops some deletions.
    private func acknowledgeSome(_ drive: TestDrive, _ random: inout SplitMix) async throws -> Bool {
        for item in try await drive.pending() {
            guard random.chance(2, in: 3) else { continue }
            if item.isDeleted {
                if let base = item.base { drive.index.record(.baseRemoved(container: .default, path: base.path)) }
            } else if let id = item.id, let path = item.path {
                guard let status = drive.status(path) else { return false }
                drive.index.record(
                    .acknowledged(
                        .init(
                            item: id, base: try drive.base(path), fingerprint: status.fingerprint, writersOpen: false)))
            }
        }
        try await drive.index.settle()
        return true
    }

    private func flush(_ drive: TestDrive, _ count: Int) {
        let events = drive.delayed.withLock { events -> [StoreEvent] in
            guard let all = events else { return [] }
            events = Array(all.dropFirst(count))
            return Array(all.prefix(count))
        }
        for event in events { drive.index.record(event) }
    }

    // MARK: Operations

    private static let names = ["a", "b", "c", "doc", "doc~", "d1", "d2", ".x.swp", "t.tmp"]

    private func randomPath(_ random: inout SplitMix) -> RelativePath {
        var names: [FileName] = []
        for _ in 0...random.upTo(3) {
            names.append(FileName(unchecked: Array(Self.names[random.upTo(Self.names.count)].utf8)))
        }
        return RelativePath(names)
    }

    private func randomOperation(_ drive: TestDrive, _ random: inout SplitMix) throws {
        let path = randomPath(&random)
        let other = randomPath(&random)
        let status = drive.status(path)
        let target = drive.status(other)
        let parentIsThere = path.parent.flatMap { drive.status($0) }?.kind == .directory
        let isFile = status?.kind == .file
        let areTwo = path != other && status?.inode != target?.inode
        switch random.upTo(11) {
        case 0...1 where isFile: try drive.write(path, random.text())
        case 2 where isFile: try drive.chmod(path, random.chance(1, in: 2) ? 0o600 : 0o644)
        case 3...4 where status != nil: try? drive.remove(path)
        case 5...7 where status != nil && areTwo: try? drive.rename(path, other)
        case 8 where isFile && target?.kind == .file && areTwo: try drive.exchange(path, other)
        case 8
        where status?.kind == .directory && target?.kind == .directory && areTwo && !path.isInside(other)
            && !other.isInside(path):
            try drive.exchange(path, other)
        case 9 where isFile && target == nil: try? drive.link(path, other)
        case 10 where status == nil && parentIsThere: try drive.makeDirectory(path)
        default: if status == nil, parentIsThere { try drive.create(path, random.text()) }
        }
    }
}

/// A small generator, the same for a seed everywhere.
struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    mutating func upTo(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }
    mutating func chance(_ part: Int, in whole: Int) -> Bool { upTo(whole) < part }
    mutating func text() -> String { String(repeating: "x", count: upTo(200)) }
}
