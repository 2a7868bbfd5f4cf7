import Foundation
import Testing

extension EndToEnd {
    /// What coordination is for: nobody's edit is lost.
    @Suite("Lost updates", .timeLimit(.minutes(10)))
    struct LostUpdateTests {
        /// Of each writer. `QUIRE_EDITS` sets another number.
        private static let edits = Machine.setting("QUIRE_EDITS", standard: 1000)
        private static let writers = ["app-one", "app-two", "vim", "afar"]

        @Test("Two apps, a program that saves as vim does and an app on another device: every edit is kept")
        func coordinated() async throws {
            let found = try await Self.storm("coordinated")
            #expect(found.first == "missing 0", "\(found)")
        }

        @Test("Without coordination edits of the same four are lost")
        func plain() async throws {
            let found = try await Self.storm("plain")
            #expect(found.first != "missing 0", "\(found)")
        }

        @Test(
            "What an app wrote since a program read the document is kept as a version in conflict, whichever way it saves",
            arguments: ["rename", "backup", "unlink", "empty", "truncate"], [[], ["-o", "nopassthrough"]])
        func missed(way: String, options: [String]) async throws {
            try await Workspace.use { space in
                let drive = try await space.drive()
                try await drive.mount(options: options)
                try await drive.sh("echo begin > doc.txt")
                let (app, doc) = (try App(), "\(drive.mountpoint)/doc.txt")
                try app.tell("present p \(doc)")
                try await app.hears("presenting p 1")
                let program = drive.python("replacing.py", ["late", doc, way, space.root])
                async let saved = program.succeed()
                try await eventually("the program has read", seconds: 20) {
                    FileManager.default.fileExists(atPath: "\(space.root)/read")
                }
                try app.tell("edit-much app 1 \(doc) coordinated")
                try await app.hears("edited app 0", skipping: ["callback"])
                try await space.sh("touch go")
                _ = try await saved
                try await app.hears(
                    "callback p didGain begin|app 1|",
                    skipping: [
                        "callback p didChange", "callback p relinquish", "callback p save", "callback p reacquire",
                        "callback p didMove", "callback p accommodate",
                    ])
                #expect(try await drive.sh("cat doc.txt") == "begin\nlate\nlater\n")
                // One, and listed as such.
                #expect(try await drive.sh("ls -A | wc -l") == "2\n")
                #expect(await drive.quire("conflicts").output.contains("doc (conflicted copy"))
            }
        }

        @Test(
            "What another device wrote since a program read the document is kept, also where its content is not here yet",
            arguments: ["rename", "backup", "unlink", "empty", "truncate"])
        func missedDataless(way: String) async throws {
            try await Workspace.use { space in
                let (here, afar) = try await space.devicesOnNetwork()
                let doc = "\(here.mountpoint)/doc"
                let program = here.python("replacing.py", ["late", doc, way, space.root])
                async let saved = program.succeed()
                try await eventually("the program has read", seconds: 20) {
                    FileManager.default.fileExists(atPath: "\(space.root)/read")
                }
                // Both have edited it, so that the other's version takes the name, and is not here.
                try await afar.sh("echo theirs > doc")
                try await afar.sync()
                try await here.sh("echo ours >> doc")
                _ = await here.quire("sync", "--timeout", "45")
                #expect(try await here.json("status", "doc").only("materialized").int == 0)
                try await space.sh("touch go")
                _ = try await saved
                for drive in [here, afar, here] { _ = await drive.quire("sync", "--timeout", "45") }
                for drive in [here, afar] {
                    let all = try await drive.sh("cat doc*")
                    for edit in ["theirs", "ours", "late"] { #expect(all.contains(edit), "\(drive.name): \(all)") }
                }
            }
        }

        @Test(
            "What another device moved into the place of a document that a program read is kept, too",
            arguments: ["rename", "backup", "unlink", "empty", "truncate"])
        func missedMoved(way: String) async throws {
            try await Workspace.use { space in
                let (here, afar) = try await space.devicesOnNetwork()
                try await afar.sh("echo theirs > other")
                for drive in [afar, here] { try await drive.sync() }
                let program = here.python("replacing.py", ["late", "\(here.mountpoint)/doc", way, space.root])
                async let saved = program.succeed()
                try await eventually("the program has read", seconds: 20) {
                    FileManager.default.fileExists(atPath: "\(space.root)/read")
                }
                try await afar.sh("mv doc away; mv other doc")
                for drive in [afar, here] { try await drive.sync() }
                #expect(try await here.sh("ls") == "away\ndoc\n")
                try await space.sh("touch go")
                _ = try await saved
                for drive in [here, afar, here] { _ = await drive.quire("sync", "--timeout", "45") }
                for drive in [here, afar] {
                    #expect(try await drive.sh("cat doc away") == "base\nlate\nlater\nbase\n", "\(drive.name)")
                    #expect(try await drive.sh("cat doc*copy*") == "theirs\n", "\(drive.name)")
                }
            }
        }

        /// All four at once on one document.
        /// - Returns: how many edits are neither in the document nor in a version in conflict with it, and more about that.
        private static func storm(_ manner: String) async throws -> [String] {
            try await Workspace.use { space in
                let shared = "\(space.root)/shared"
                let here = try await space.drive("here", provider: shared)
                let afar = try await space.drive("afar", provider: shared)
                for drive in [here, afar] {
                    try drive.configure("device_name", "\"\(drive.name)\"")
                    // As for every user: no call waits with the directory locked.
                    try await drive.mount(options: ["-o", "default_permissions"])
                }
                try await here.sh("echo begin > doc.txt")
                for drive in [here, afar] { try await drive.sync() }
                let apps = [(writers[0], here), (writers[1], here), (writers[3], afar)]
                let begun = Date()
                let vim = here.python(
                    "replacing.py", ["lines", "\(here.mountpoint)/doc.txt", writers[2], "\(edits)"], limitSeconds: 400)
                async let again = vim.succeed()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for (name, drive) in apps {
                        group.addTask { try await write(name, on: drive, manner) }
                    }
                    try await group.waitForAll()
                }
                _ = try await again
                let written = Date().timeIntervalSince(begun)
                for _ in 0..<3 {
                    for drive in [afar, here] { try await drive.quire("sync", "--timeout", "45").require(0, 2) }
                }
                let app = try App()
                try app.tell("count-edits \(edits) \(here.mountpoint)/doc.txt \(writers.joined(separator: " "))")
                let words = try await app.next(patienceSeconds: 60).split(separator: " ").map(String.init)
                print("\(manner): \(words.joined(separator: " ")), \(Int(written)) s")
                let missing = words.prefix(2).joined(separator: " ")
                var found = [missing] + words.dropFirst(2)
                guard missing != "missing 0" else { return found }
                for drive in [here, afar] {
                    found.append(await drive.quire("status").output)
                    found.append(await drive.quire("status", "doc.txt").output)
                    found.append(
                        try await drive.sh(
                            "ls | wc -l; for n in \(writers.joined(separator: " ")); do grep -c \"^$n \" doc.txt || true; done"
                        ))
                }
                return found
            }
        }

        private static func write(_ name: String, on drive: Drive, _ manner: String) async throws {
            let app = try App()
            try app.tell("edit-much \(name) \(edits) \(drive.mountpoint)/doc.txt \(manner)")
            let line = try await app.next(patienceSeconds: 400)
            if !line.hasPrefix("edited \(name)") { throw Trouble(line) }
        }
    }
}
