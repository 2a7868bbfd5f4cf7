import Foundation
import Testing

extension EndToEnd {
    /// What the client library does about content: downloads, snapshots.
    @Suite("Library content", .timeLimit(.minutes(5)))
    struct LibraryContentTests {
        /// Two devices on one provider; on the second everything is dataless.
        private static func withDataless(_ body: (Drive, Drive) async throws -> Void) async throws {
            try await Workspace.use { space in
                let provider = try space.directory("provider")
                let first = try await space.mounted("first", provider: provider)
                try await first.sh(
                    "echo small > small; head -c 300000 /dev/zero > big; mkdir pack.bundle; echo in > pack.bundle/in")
                try await first.sync()
                let second = try await space.mounted("second", provider: provider)
                try await second.sync()
                try await body(second, first)
            }
        }

        private static func state(_ drive: Drive, _ path: String) async throws -> String {
            try await drive.quire("status", path).require(0).output.split(separator: " ").first.map(String.init) ?? ""
        }

        @Test("A coordinated read brings the content; the metadata options and deleting do not")
        func downloads() async throws {
            try await Self.withDataless { drive, _ in
                let app = try App()
                let root = drive.mountpoint
                for (number, what) in [
                    "read,immediatelyAvailableMetadataOnly", "write,contentIndependentMetadataOnly",
                    "write,forDeleting",
                    "write,forMoving",
                ].enumerated() {
                    try app.tell("access m\(number) async - \(what):\(root)/big")
                    try await app.hears("granted m\(number) \(root)/big")
                    try app.tell("tell m\(number) end")
                    try await app.hears("ended m\(number)")
                    #expect(try await Self.state(drive, "big") == "dataless", "\(what)")
                }
                for path in ["big", "small", "pack.bundle"] {
                    try app.tell("access \(path) async - read:\(root)/\(path)")
                    try await app.hears("granted \(path) \(root)/\(path)")
                }
                for path in ["big", "small", "pack.bundle/in"] {
                    #expect(try await Self.state(drive, path) == "current", "\(path)")
                }
            }
        }

        @Test("An app starts downloads, evicts, and moves documents into the drive and out of it")
        func ubiquity() async throws {
            try await Self.withDataless { drive, _ in
                let app = try App()
                let root = drive.mountpoint
                try app.tell("ubiquity start \(root)/big")
                try await app.hears("ubiquity start")
                try await eventually("the content comes", seconds: 20) {
                    try await Self.state(drive, "big") == "current"
                }
                try app.tell("ubiquity evict \(root)/big")
                try await app.hears("ubiquity evict")
                #expect(try await Self.state(drive, "big") == "dataless")
                try app.tell("ubiquity start \(root)/none")
                #expect(try await app.next().hasPrefix("refused start"))
                // Out of the drive its content comes along.
                let outside = URL(filePath: root).deletingLastPathComponent().appending(path: "outside").path
                try app.tell("ubiquity out \(root)/small \(outside)")
                try await app.hears("ubiquity out")
                #expect(try String(contentsOfFile: outside, encoding: .utf8) == "small\n")
                try await drive.sh("! test -e small; echo new > new")
                try app.tell("ubiquity in \(root)/new \(root)/newer")
                #expect(try await app.next().contains("one of both is on a drive"))
                try app.tell("ubiquity in \(outside) \(root)/again")
                try await app.hears("ubiquity in")
                try #expect(await drive.sh("cat again") == "small\n")
                #expect(!FileManager.default.fileExists(atPath: outside))
                try await drive.quire("pin", "again").require(0)
                try app.tell("ubiquity evict \(root)/again")
                #expect(try await app.next().contains("is pinned"))
            }
        }

        @Test("Content that cannot be had ends the access with the reason")
        func unreachable() async throws {
            try await Self.withDataless { drive, first in
                let provider = URL(filePath: drive.mountpoint).deletingLastPathComponent().appending(path: "provider")
                    .path
                try await Command(arguments: ["mv", provider, "\(provider).gone"]).succeed()
                let app = try App()
                for path in ["big", "small"] {
                    try app.tell("access r async - read:\(drive.mountpoint)/\(path)")
                    let line = try await app.next()
                    #expect(line.hasPrefix("failed r "), "\(line)")
                }
                try await Command(arguments: ["mv", "\(provider).gone", provider]).succeed()
                _ = first
            }
        }

        @Test("For uploading there is a snapshot, of a directory one zip, and writers go on meanwhile")
        func snapshots() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("echo before > doc; mkdir dir; echo a > dir/a")
                let (one, two) = (try App(), try App())
                let root = drive.mountpoint
                try one.tell("access u async - read,forUploading:\(root)/doc")
                let granted = try await one.next()
                let path = granted.split(separator: " ").last.map(String.init) ?? ""
                #expect(
                    granted.hasPrefix("granted u ") && path.hasSuffix("/doc") && !path.hasPrefix(root), "\(granted)")
                // The writer need not wait for the accessor.
                try two.tell("access w async - write:\(root)/doc")
                try await two.hears("granted w \(root)/doc")
                try two.tell("tell w write after")
                try two.tell("tell w end")
                try await two.hears("ended w")
                try one.tell("tell u show")
                try await one.hears("content u before|")
                try one.tell("tell u end")
                try await one.hears("ended u")
                #expect(!FileManager.default.fileExists(atPath: path))
                try one.tell("access z async - read,forUploading:\(root)/dir")
                let zip = try await one.next().split(separator: " ").last.map(String.init) ?? ""
                #expect(zip.hasSuffix("/dir.zip"), "\(zip)")
                try one.tell("tell z zip")
                try await one.hears("content z PK")
                let names = try await Command(
                    arguments: [
                        "python3", "-c", "import sys,zipfile; print(*zipfile.ZipFile(sys.argv[1]).namelist())", zip,
                    ]
                ).succeed()
                #expect(names == "dir/ dir/a\n")
                try one.tell("tell z end")
                try await one.hears("ended z")
            }
        }
    }
}
