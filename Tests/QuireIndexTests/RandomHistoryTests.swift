import Glibc
import Synchronization
import Testing

@testable import QuireCore
@testable import QuireIndex

/// Reproducible randomness.
struct Dice: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

@Suite("Random histories")
struct RandomHistoryTests {
    static let names: [FileName] = ["a", "b", "c", "doc", "doc~", ".doc.swp", "tmp1"]

    @Test("after any history rows equal what a fresh index finds", arguments: 0..<40)
    func history(seed: Int) async throws {
        try await withDrive { drive in
            var dice = Dice(state: UInt64(seed) &* 7919 &+ 1)
            let rescans = seed % 4
            for step in 0..<160 {
                Self.step(drive, &dice)
                if rescans > 0, Int.random(in: 0..<40, using: &dice) == 0 { drive.index.beginRescan() }
                if Int.random(in: 0..<12, using: &dice) == 0 { try await acknowledge(drive, &dice) }
                if Int.random(in: 0..<25, using: &dice) == 0 { drive.clock.advance(seconds: 20) }
                if rescans == 3, step % 40 == 39 {
                    try await drive.index.settle()
                    drive.isWatched = false
                    for _ in 0..<10 { Self.step(drive, &dice) }
                    drive.isWatched = true
                    _ = await drive.rescan()
                }
            }
            try await drive.index.settle()
            _ = await drive.index.rescanFinished()
            try await compare(drive, "seed \(seed)")
            if rescans > 0 {
                _ = await drive.rescan()
                try await compare(drive, "seed \(seed), rescanned")
            }
        }
    }

    private func acknowledge(_ drive: TestDrive, _ dice: inout Dice) async throws {
        for item in try await drive.pending() where Bool.random(using: &dice) {
            if item.isDeleted {
                if let base = item.base { drive.index.record(.baseRemoved(container: .default, path: base.path)) }
            } else if let path = item.path, drive.status(path) != nil, let id = item.id {
                if item.isMoved, let base = item.base {
                    drive.index.record(.baseMoved(container: .default, from: base.path, try drive.base(path)))
                } else {
                    drive.index.record(
                        .acknowledged(
                            .init(
                                item: id, base: try drive.base(path), fingerprint: try drive.present(path).fingerprint,
                                writersOpen: false)))
                }
                try await drive.index.settle()
            }
        }
        try await drive.index.settle()
    }

    private static func anyPath(_ dice: inout Dice) -> RelativePath {
        let depth = Int.random(in: 1...3, using: &dice)
        return RelativePath((0..<depth).map { _ in names[Int.random(in: 0..<names.count, using: &dice)] })
    }

    private static func step(_ drive: TestDrive, _ dice: inout Dice) {
        let path = anyPath(&dice), other = anyPath(&dice)
        let linked = [path, other].compactMap { drive.status($0) }.filter { $0.linkCount > 1 && $0.kind == .file }
        defer { tellLinkCounts(drive, linked) }
        switch Int.random(in: 0..<14, using: &dice) {
        case 0...2: try? _ = drive.create(path, String(repeating: "x", count: Int.random(in: 0..<9, using: &dice)))
        case 3, 4: try? drive.makeDirectory(path)
        case 5: try? drive.write(path, String(repeating: "y", count: Int.random(in: 0..<9, using: &dice)))
        case 6, 7: try? drive.remove(path)
        case 8...10:
            // Two names of one inode: the kernel does nothing, and the driver tells nothing.
            if drive.status(path) != nil, drive.status(path)?.inode == drive.status(other)?.inode { return }
            try? drive.rename(path, other)
        case 11:
            if let one = drive.status(path), let two = drive.status(other), one.kind == .file, two.kind == .file,
                one.inode != two.inode
            {
                try? drive.exchange(path, other)
            }
        case 12:
            if drive.status(path)?.kind == .file {
                try? drive.link(path, other)
                if let status = drive.status(path), drive.isWatched {
                    drive.index.record(.attributesChanged(status, writersOpen: false))
                }
            }
        default: try? drive.chmod(path, Bool.random(using: &dice) ? 0o600 : 0o755)
        }
    }

    /// As the driver does: the other names of a file have a new link count.
    private static func tellLinkCounts(_ drive: TestDrive, _ before: [FileStatus]) {
        guard !before.isEmpty, drive.isWatched else { return }
        for first in names {
            for second in [nil] + names.map(Optional.some) {
                for third in second == nil ? [nil] : [nil] + names.map(Optional.some) {
                    let path = RelativePath([first, second, third].compactMap { $0 })
                    if let status = drive.status(path), before.contains(where: { $0.inode == status.inode }) {
                        drive.index.record(.attributesChanged(status, writersOpen: false))
                    }
                }
            }
        }
    }

    private func compare(_ drive: TestDrive, _ what: String) async throws {
        let (fresh, _) = try MetadataIndex.open(
            at: drive.directory + "/fresh.sqlite", driveRoot: drive.store, clock: MetadataIndex.systemClock)
        defer {
            fresh.close()
            for suffix in ["", "-wal", "-shm", ".open"] { unlink(drive.directory + "/fresh.sqlite" + suffix) }
        }
        fresh.beginRescan()
        _ = await fresh.rescanFinished()
        func lines(_ index: MetadataIndex) async throws -> [String] {
            try await index.find(ItemQuery()).map { item in
                let local = item.local
                let facts =
                    "\(item.path) \(local.kind) \(local.inode) \(String(local.mode, radix: 8)) \(item.isLocalOnly)"
                guard local.kind != .directory else { return facts }
                let times = "\(local.mtime.nanoseconds) \(local.ctime.nanoseconds)"
                return "\(facts) \(local.size) \(local.linkCount) \(times)"
            }
        }
        let found = try await lines(drive.index), expected = try await lines(fresh)
        let difference = found.difference(from: expected)
        #expect(difference.isEmpty, "\(what): \(difference.map { "\($0)" })")
        let problems = try await drive.index.read("invariants") { db -> [String] in
            var problems: [String] = []
            var types = TypeReader()
            let typer = ItemTyper()
            for row in try db.all("SELECT \(ItemRow.columns) FROM \(ItemRow.tables)", read: ItemRow.init) {
                if row.difference.rawValue != row.pending {
                    problems.append("pending of \(row.name) is \(row.pending), not \(row.difference.rawValue)")
                }
                if let number = typer.number(row.local.kind, row.name),
                    try types.type(row.type, db) != typer.catalog.type(number)
                {
                    problems.append("type of \(row.name)")
                }
                if row.parent == Schema.limbo { problems.append("limbo \(row.id)") }
            }
            let orphans = try db.all(
                "SELECT b.id, b.orphan, count(i.id), b.version FROM bases b LEFT JOIN items i ON i.base = b.id GROUP BY b.id"
            ) { ($0.integer(0), $0.integer(1), $0.integer(2), $0.text(3)) }
            for (id, orphan, holders, version) in orphans where (orphan == 1) != (holders == 0 && version != "") {
                problems.append("base \(id) orphan \(orphan) with \(holders) holders")
            }
            return problems
        }
        #expect(problems.isEmpty, "\(what): \(problems)")
    }
}
