import Glibc

/// Rows that are system calls of one process.
extension Row {
    static let makingCalls: [Row] = [
        Row(
            key: "create", name: "create, write 1 KiB, close", unit: .operations { $0.files },
            target: Target(passthroughLL: 1.3)
        ) { place in
            let names = try small(place, prepared: false)
            return try withBytes(1024) { bytes in
                try timed {
                    try names.each("create") { Call.create($0, $1, UnsafeRawBufferPointer(bytes)) }
                }
            }
        },
        Row(
            key: "first-stat", name: "first stat", unit: .operations { $0.files }, target: Target(passthroughLL: 1.5),
            requires: ["create"], isCold: true, isReading: true
        ) { place in
            let names = try small(place)
            return try timed { try names.each("stat") { Call.status($0, $1) } }
        },
        Row(
            key: "stat", name: "repeated stat", unit: .operations { $0.files * $0.passes }, target: Target(bare: 0.5),
            requires: ["create"], isReading: true, prepare: known
        ) { place in
            let names = try small(place)
            return try timed { try names.each("stat", passes: place.sizes.passes) { Call.status($0, $1) } }
        },
        Row(
            key: "open", name: "open, read 1 KiB, close", unit: .operations { $0.files },
            target: Target(passthroughLL: 1.5), requires: ["create"], isReading: true, isContent: true,
            prepare: known
        ) { place in
            let names = try small(place)
            return try withBytes(64 << 10) { bytes in
                try timed { try names.each("read") { Call.read($0, $1, bytes) } }
            }
        },
        Row(
            key: "negative", name: "stat of missing names", unit: .operations { $0.files * $0.passes },
            target: Target(),
            requires: ["create"], isReading: true
        ) { place in
            let names = try Names(in: place.path("small"), count: place.sizes.files, prefix: "missing")
            return try timed {
                try names.each("stat", passes: place.sizes.passes) { directory, path in
                    Call.status(directory, path) < 0 && errno == ENOENT ? 0 : -1
                }
            }
        },
        Row(key: "mkdir", name: "mkdir", unit: .operations { $0.files }, target: Target()) { place in
            let names = try directories(place)
            return try timed { try names.each("mkdir") { mkdirat($0, $1, 0o755) } }
        },
    ]

    static let removingCalls: [Row] = [
        Row(
            key: "rename", name: "rename", unit: .operations { $0.files }, target: Target(passthroughLL: 1.5),
            requires: ["create"], prepare: known
        ) { place in
            let names = try small(place)
            let others = try Names(in: place.path("small"), count: place.sizes.files, prefix: "renamed")
            return try timed {
                for (old, new) in zip(names.paths, others.paths)
                where renameat(names.directory, old, others.directory, new) != 0 {
                    throw BenchmarkError("rename", String(cString: old))
                }
            }
        },
        Row(
            key: "unlink", name: "unlink", unit: .operations { $0.files }, target: Target(passthroughLL: 1.5),
            requires: ["create", "rename"],
            prepare: { place in try renamed(place).each("stat") { Call.status($0, $1) } }
        ) { place in
            let names = try renamed(place)
            return try timed { try names.each("unlink") { unlinkat($0, $1, 0) } }
        },
        Row(
            key: "rmdir", name: "rmdir", unit: .operations { $0.files }, target: Target(), requires: ["mkdir"],
            prepare: { place in try directories(place).each("stat") { Call.status($0, $1) } }
        ) { place in
            let names = try directories(place)
            return try timed { try names.each("rmdir") { unlinkat($0, $1, AT_REMOVEDIR) } }
        },
    ]

    private static func small(_ place: Place, prepared: Bool = true) throws -> Names {
        if !prepared { mkdir(place.path("small"), 0o755) }
        let names = try Names(in: place.path("small"), count: place.sizes.files)
        if !prepared { try names.makeDirectories() }
        return names
    }

    /// The kernel knows the files, as far as the file system lets it.
    @Sendable private static func known(_ place: Place) throws {
        try small(place).each("stat") { Call.status($0, $1) }
    }

    private static func renamed(_ place: Place) throws -> Names {
        try Names(in: place.path("small"), count: place.sizes.files, prefix: "renamed")
    }

    private static func directories(_ place: Place) throws -> Names {
        mkdir(place.path("directories"), 0o755)
        let names = try Names(in: place.path("directories"), count: place.sizes.files)
        try names.makeDirectories()
        return names
    }
}
