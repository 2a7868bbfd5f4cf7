// swift-tools-version: 6.2
import PackageDescription

/// One array of settings for every Swift target.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "quire",
    products: [
        .executable(name: "quire", targets: ["quire"]),
        .executable(name: "quire-main", targets: ["QuireMain"]),
        .library(name: "Quire", targets: ["Quire"]),
    ],
    dependencies: [
        // Errno, FileDescriptor: system calls with typed errors instead of C integers.
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        // Structured logs of the daemon; libraries log through it and choose no destination.
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        // SQLite for the metadata index: WAL, migrations, one writer and many readers.
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        // SHA-256 of content; MD5 in the names of thumbnails, where freedesktop.org's specification wants it.
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        // HTTP/1.1 and TLS for WebDAV and S3: bodies streamed both ways, connections kept and shared, every wait with an end.
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        // Bytes and TLS settings as AsyncHTTPClient takes them, and the server that its tests talk to.
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        // The command line: parsing, help and shell completions.
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        // Start, signals and orderly shutdown of the daemon's services.
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        // config.toml, with line and column in its errors.
        .package(url: "https://github.com/LebJe/TOMLKit", from: "0.6.0"),
    ],
    targets: [
        // C shim over libfuse3: variadic and macro parts, and the INIT hook for kernel passthrough.
        .target(
            name: "CFuse",
            cSettings: [.define("_FILE_OFFSET_BITS", to: "64")],
            linkerSettings: [.linkedLibrary("fuse3")]),
        // libexpat: XML of WebDAV and S3 as it arrives. FoundationXML would bring all of Foundation, and ICU, into the daemon.
        .target(name: "CExpat", linkerSettings: [.linkedLibrary("expat")]),
        // What Swift's Glibc module leaves out: extended attributes, renameat2, O_PATH, FICLONE.
        .target(name: "CLinux", cSettings: [.define("_GNU_SOURCE")]),
        .target(
            name: "QuireCore",
            dependencies: [
                "CLinux", .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        // Both ends of the control socket: what the daemon, the commands and the library share.
        .target(name: "QuireTransport", dependencies: ["CLinux", "QuireCore"], swiftSettings: settings),
        // Programs that read what anybody may have written: started with next to nothing, and killed in time.
        .target(name: "QuireConfinement", dependencies: ["CLinux", "QuireCore"], swiftSettings: settings),
        // The words of documents: text as it is, other kinds by confined programs.
        .target(name: "QuireContent", dependencies: ["QuireConfinement", "QuireCore"], swiftSettings: settings),
        // Pictures of documents: made by confined programs, kept, and shown where file managers look.
        .target(
            name: "QuireThumbnails",
            dependencies: [
                "CLinux", "QuireConfinement", "QuireCore",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .target(
            name: "Quire",
            dependencies: ["QuireTransport", "QuireThumbnails", "QuireCore", "CLinux"],
            swiftSettings: settings),
        .target(name: "QuireCoordination", dependencies: ["QuireCore"], swiftSettings: settings),
        .target(
            name: "QuireStore",
            dependencies: [
                "CLinux", "QuireCore",
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .target(
            name: "QuireIndex",
            dependencies: [
                "CLinux", "QuireCore",
                .product(name: "GRDB", package: "GRDB.swift"),
                // The C functions under it, for the ingest path.
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .target(
            name: "QuireProviders",
            dependencies: [
                "CExpat", "CLinux", "QuireCore",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .target(
            name: "QuireSync",
            dependencies: [
                "QuireCore", "QuireStore", "QuireIndex", "QuireCoordination",
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .target(
            name: "QuireFilesystem",
            dependencies: [
                "CFuse", "CLinux", "QuireCore", "QuireStore", "QuireCoordination",
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        // What both programs of the command line share; without Foundation.
        .target(name: "QuireCommandLine", dependencies: ["QuireCore"], swiftSettings: settings),
        // The command: it asks the daemon where that is all there is to do, and becomes the whole program otherwise. Static and
        // at a fixed address, as the dynamic linker and the reading of arguments took longer than most searches.
        .executableTarget(
            name: "quire",
            dependencies: ["QuireCommandLine"],
            swiftSettings: settings,
            linkerSettings: [
                .unsafeFlags(["-static-executable", "-use-ld=lld"], .when(configuration: .release))
            ]),
        // All commands, and the daemon.
        .executableTarget(
            name: "QuireMain",
            dependencies: [
                "CLinux", "QuireCommandLine",
                "QuireTransport", "QuireCore", "QuireStore", "QuireIndex", "QuireCoordination", "QuireProviders",
                "QuireSync", "QuireConfinement", "QuireContent", "QuireThumbnails",
                "QuireFilesystem",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                .product(name: "TOMLKit", package: "TOMLKit"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
    ]
        + [
            "QuireCoordination", "QuireStore", "QuireProviders",
        ].map {
            .testTarget(
                name: "\($0)Tests",
                dependencies: [.init(stringLiteral: $0), "QuireCore", "CLinux", "QuireTestSupport"],
                swiftSettings: settings)
        }
        // These run confined programs.
        + ["QuireThumbnails", "QuireContent"].map {
            .testTarget(
                name: "\($0)Tests",
                dependencies: [
                    .init(stringLiteral: $0), "QuireConfinement", "QuireCore", "CLinux", "QuireTestSupport",
                ],
                swiftSettings: settings)
        } + [
            .testTarget(
                name: "QuireConfinementTests",
                dependencies: ["QuireConfinement", "QuireCore", "CLinux", "QuireTestSupport"], swiftSettings: settings),
            // What several of them use.
            .target(name: "QuireTestSupport", path: "Tests/Support", swiftSettings: settings),
            .testTarget(
                name: "QuireTests",
                dependencies: ["Quire", "QuireThumbnails", "QuireTransport", "QuireCore", "CLinux"],
                swiftSettings: settings),
            .testTarget(
                name: "QuireCoreTests", dependencies: ["QuireTransport", "QuireCore", "QuireTestSupport"],
                swiftSettings: settings),
            .testTarget(
                name: "QuireIndexTests",
                dependencies: ["QuireIndex", "QuireCore", "CLinux", .product(name: "GRDB", package: "GRDB.swift")],
                swiftSettings: settings),
            .testTarget(
                name: "QuireSyncTests",
                dependencies: [
                    "QuireSync", "QuireProviders", "QuireStore", "QuireIndex", "QuireCoordination", "QuireCore",
                    "CLinux",
                    "QuireTestSupport", .product(name: "GRDB", package: "GRDB.swift"),
                ],
                swiftSettings: settings),
            .testTarget(
                name: "QuireFilesystemTests",
                dependencies: [
                    "QuireFilesystem", "QuireStore", "QuireCoordination", "QuireCore", "CFuse", "CLinux",
                    .product(name: "Logging", package: "swift-log"),
                ],
                swiftSettings: settings),
            // The command line's and the daemon's own parts: configuration, control socket, argument parsing, output.
            .testTarget(
                name: "CommandTests",
                dependencies: [
                    "QuireMain", "QuireCommandLine", "QuireTransport", "QuireCore", "QuireTestSupport",
                    .product(name: "ArgumentParser", package: "swift-argument-parser"),
                    .product(name: "Logging", package: "swift-log"),
                ],
                swiftSettings: settings),
            // Load that a script is too slow for; the end-to-end tests run it on drives.
            .executableTarget(name: "quire-stress", path: "Tests/Stress"),
            // An app that coordinates; the end-to-end tests tell it what to do.
            .executableTarget(name: "quire-app", dependencies: ["Quire"], path: "Tests/App", swiftSettings: settings),
            // The example of a document app: a text editor for the terminal.
            .executableTarget(
                name: "quire-example-editor", dependencies: ["Quire"], path: "Examples/TextEditor",
                swiftSettings: settings),
            // What claims and queries cost: run by `make bench`.
            .executableTarget(
                name: "quire-daemon-bench",
                dependencies: [
                    "QuireTransport", "QuireCoordination", "QuireIndex", "QuireCore",
                    .product(name: "Logging", package: "swift-log"),
                ],
                path: "Benchmarks/Daemon", swiftSettings: settings),
            // Drives the built binary from the outside: real mounts, real programs.
            .testTarget(
                name: "EndToEndTests", dependencies: ["quire", "QuireMain", "QuireCore"], exclude: ["Programs"],
                swiftSettings: settings),
        ]
)
