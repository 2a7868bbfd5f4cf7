import Glibc

/// Rows that move content. Each writes to a file of its own.
extension Row {
    static let contentRows: [Row] = [
        Row(
            key: "random-writes", name: "random writes of 4 KiB", unit: .operations { $0.writes },
            target: Target(passthroughLL: 10, bare: 0.95, bareWithoutPassthrough: 0.2), isContent: true,
            prepare: { place in try fill(place.path("random"), mebibytes: place.sizes.mebibytes / 4) }
        ) { place in
            try randomWrites(place, count: place.sizes.writes, synced: false)
        },
        Row(
            key: "random-fsync", name: "random writes of 4 KiB, each synced", unit: .operations { $0.syncs },
            target: Target(), isContent: true,
            prepare: { place in try fill(place.path("random"), mebibytes: place.sizes.mebibytes / 4) }
        ) { place in
            try randomWrites(place, count: place.sizes.syncs, synced: true)
        },
        Row(
            key: "append", name: "appends of 256 bytes", unit: .operations { $0.writes },
            target: Target(bare: 0.2, bareWithoutPassthrough: 0.2), isContent: true
        ) { place in
            let file = try opened(place.path("appended"), O_CREAT | O_WRONLY | O_APPEND)
            defer { close(file) }
            return try withBytes(256) { bytes in
                try timed {
                    for _ in 0..<place.sizes.writes where write(file, bytes.baseAddress, 256) != 256 {
                        throw BenchmarkError("write", "appended")
                    }
                }
            }
        },
        Row(
            key: "write", name: "write in order, 1 MiB at a time, fsync", unit: .mebibytes { $0.mebibytes },
            target: Target(bare: 0.95, bareWithoutPassthrough: 0.6), isContent: true, each: "MiB"
        ) { place in
            try timed { try fill(place.path("large"), mebibytes: place.sizes.mebibytes) }
        },
        Row(
            key: "read", name: "read in order, 1 MiB at a time, warm", unit: .mebibytes { $0.mebibytes * $0.passes },
            target: Target(bare: 0.95, bareWithoutPassthrough: 0.6), requires: ["write"], isReading: true,
            isContent: true,
            each: "MiB", prepare: { place in try readWhole(place.path("large")) }
        ) { place in
            try timed { for _ in 0..<place.sizes.passes { try readWhole(place.path("large")) } }
        },
        Row(
            key: "sqlite", name: "SQLite: transactions of one row", unit: .operations { $0.syncs }, target: Target(),
            isContent: true, each: "transaction"
        ) { place in
            try timed {
                try Program.run(
                    "/usr/bin/python3", "-c", transactions, place.path("database"), "\(place.sizes.syncs)")
            }
        },
    ]

    /// SQLite's defaults: a rollback journal, synced.
    private static let transactions = """
        import sqlite3, sys
        database = sqlite3.connect(sys.argv[1])
        database.execute("create table letters (id integer primary key, body text)")
        for number in range(int(sys.argv[2])):
            database.execute("insert into letters (body) values (?)", ("x" * 200,))
            database.commit()
        """

    private static func opened(_ path: String, _ flags: Int32) throws(BenchmarkError) -> Int32 {
        let file = open(path, flags | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw BenchmarkError("open", path) }
        return file
    }

    private static func fill(_ path: String, mebibytes: Int) throws {
        let file = try opened(path, O_CREAT | O_WRONLY)
        defer { close(file) }
        try withBytes(1 << 20) { bytes in
            for _ in 0..<mebibytes where write(file, bytes.baseAddress, bytes.count) != bytes.count {
                throw BenchmarkError("write", path)
            }
        }
        guard fsync(file) == 0 else { throw BenchmarkError("fsync", path) }
    }

    private static func readWhole(_ path: String) throws {
        let file = try opened(path, O_RDONLY)
        defer { close(file) }
        try withBytes(1 << 20) { bytes in
            while true {
                let count = Glibc.read(file, bytes.baseAddress, bytes.count)
                if count == 0 { return }
                if count < 0 { throw BenchmarkError("read", path) }
            }
        }
    }

    /// The writing calls alone, at places that are the same in each run.
    private static func randomWrites(_ place: Place, count: Int, synced: Bool) throws -> Double {
        let file = try opened(place.path("random"), O_RDWR)
        defer { close(file) }
        let blocks = UInt64(place.sizes.mebibytes / 4 * 256)
        var state: UInt64 = 42
        return try withBytes(4096) { bytes in
            try timed {
                for _ in 0..<count {
                    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                    let offset = off_t((state >> 33) % blocks) * 4096
                    guard pwrite(file, bytes.baseAddress, 4096, offset) == 4096, !synced || fsync(file) == 0 else {
                        throw BenchmarkError("write", place.path("random"))
                    }
                }
            }
        }
    }
}
