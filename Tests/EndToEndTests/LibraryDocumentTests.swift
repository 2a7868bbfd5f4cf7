import Foundation
import Testing

extension EndToEnd {
    /// Documents of the client library on a mounted drive, beside other apps, shell tools and other devices.
    @Suite("Library documents", .timeLimit(.minutes(5)))
    struct LibraryDocumentTests {
        /// Returns once the app says that a document is in this state.
        private static func wait(_ app: App, _ document: String, state: Int) async throws {
            while try await app.next() != "event \(document) state \(state)" {}
        }

        /// The first line that begins so.
        private static func line(_ app: App, _ begin: String) async throws -> String {
            while true {
                let line = try await app.next()
                if line.hasPrefix(begin) { return line }
            }
        }

        /// Returns once the document is so, as far as `save` says.
        private static func until(_ app: App, _ document: String, is wanted: String) async throws {
            let end = Date(timeIntervalSinceNow: 30)
            while Date.now < end {
                try app.tell("document save \(document)")
                if try await line(app, "document save").hasSuffix(wanted) { return }
            }
            throw Trouble("the document is never \(wanted)")
        }

        @Test("A package is saved in one step: it keeps its identity, and who presents it is told that it changed")
        func packages() async throws {
            try await Workspace.use { space in
                let provider = try space.directory("provider")
                let drive = try await space.mounted(provider: provider)
                let pack = "\(drive.mountpoint)/pack.bundle"
                try await drive.sh(
                    "mkdir -p pack.bundle/sub; echo one > pack.bundle/text; echo x > pack.bundle/sub/other")
                let before = try await drive.sh("getfattr --only-values -n user.quire.id pack.bundle")
                let (one, two) = (try App(), try App())
                try one.tell("document open d \(pack)")
                #expect(try await Self.line(one, "document open").hasSuffix("state=0 unsaved=false one|"))
                try await two.present("p", at: pack)
                try one.tell("document type d two")
                #expect(try await Self.line(one, "document type").hasSuffix("unsaved=true two|"))
                // A program that reads any file of it gets what is unsaved.
                try #expect(await drive.sh("cat pack.bundle/text") == "two\n")
                let asked = ["callback p relinquishToReader", "callback p save"]
                try await two.hears(callbacks: ["relinquishToWriter", "didChange"], of: "p", skipping: asked)
                try await two.hears("callback p reacquire", skipping: asked + ["callback p didChange"])
                try #expect(await drive.sh("ls -A . pack.bundle") == ".:\npack.bundle\n\npack.bundle:\ntext\n")
                try #expect(await drive.sh("getfattr --only-values -n user.quire.id pack.bundle") == before)
                // It is presented still, and what others write in it is loaded.
                try await drive.sh("echo three > pack.bundle/text")
                try await Self.until(one, "d", is: "unsaved=false three|")
                try await drive.sync()
                let other = try await space.mounted("other", provider: provider)
                try await other.sync()
                try #expect(await other.sh("ls -A pack.bundle; cat pack.bundle/text") == "text\nthree\n")
            }
        }

        @Test("Content that is elsewhere comes with progress")
        func progress() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("head -c 60000000 /dev/zero | tr '\\0' a > big")
                try await drive.sync()
                try await drive.quire("evict", "big").require(0)
                // What comes at once has no progress to tell.
                try await drive.quire("limit", "--down", "20MB/s").require(0)
                let app = try App()
                try app.tell("document open d \(drive.mountpoint)/big")
                try await app.hears("event d state 17")
                #expect(try await Self.line(app, "progress").hasPrefix("progress d true"))
                #expect(try await Self.line(app, "document open").contains("state=0"))
            }
        }

        @Test("A thumbnail that a save gives lies in the user's cache, keyed by the file on the mount")
        func thumbnails() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                let cache = try space.directory("cache")
                try await drive.sh("echo one > grün")
                let app = try App(environment: ["XDG_CACHE_HOME": cache])
                try app.tell("document open d \(drive.mountpoint)/grün")
                _ = try await Self.line(app, "document open")
                let pixel =
                    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
                try app.tell("document picture d \(pixel)")
                try app.tell("document type d two")
                try app.tell("document save d")
                _ = try await Self.line(app, "document save")
                let uri = "file://\(drive.mountpoint)/gr%C3%BCn"
                let name = try await drive.sh("printf %s '\(uri)' | md5sum | cut -c 1-32").trimmingCharacters(
                    in: .whitespacesAndNewlines)
                let file = "\(cache)/thumbnails/xx-large/\(name).png"
                try #expect(await drive.sh("stat -c %a '\(file)'") == "600\n")
                let time = try await drive.sh("stat -c %Y grün").trimmingCharacters(in: .whitespacesAndNewlines)
                try await drive.sh(
                    "grep -aq 'Thumb::URI.\(uri)' '\(file)'; grep -aqP 'Thumb::MTime\\x00\(time)' '\(file)'")
                try app.tell("values \(drive.mountpoint)/grün")
                #expect(try await Self.line(app, "values").contains("size=4 known=7 current"))
                try app.tell("values \(drive.mountpoint)/grün")
                #expect(try await Self.line(app, "values").contains("thumbnails=1"))
            }
        }

        @Test("Edits of one document on two devices: it is in conflict on both until a version is chosen on one")
        func conflict() async throws {
            try await Workspace.use { space in
                let (first, second) = try await space.devicesOnNetwork()
                let (one, two) = (try App(), try App())
                for (app, drive) in [(one, first), (two, second)] {
                    try app.tell("document open d \(drive.mountpoint)/doc")
                    #expect(try await Self.line(app, "document open").hasSuffix("base|"))
                }
                try await space.sh("rm network")
                for (app, text) in [(one, "theirs"), (two, "mine")] {
                    try app.tell("document type d \(text)")
                    try app.tell("document save d")
                    #expect(try await Self.line(app, "document save").hasSuffix("state=0 unsaved=false \(text)|"))
                }
                try await first.sync()
                try await space.sh("ln -s server network")
                try await second.quire("sync", "--timeout", "45").require(0, 2)
                try await Self.wait(two, "d", state: 2)
                try await Self.until(two, "d", is: "state=2 unsaved=false theirs|")
                try await first.quire("sync", "--timeout", "45").require(0, 2)
                try await Self.wait(one, "d", state: 2)
                // The second device's edit is chosen there.
                try two.tell("replace \(second.mountpoint)/doc")
                _ = try await Self.line(two, "done")
                try two.tell("resolve \(second.mountpoint)/doc")
                try await Self.wait(two, "d", state: 0)
                try await second.sync()
                try await first.sync()
                try await Self.wait(one, "d", state: 0)
                for (app, drive) in [(one, first), (two, second)] {
                    try await Self.until(app, "d", is: "state=0 unsaved=false mine|")
                    try #expect(await drive.sh("ls; cat doc") == "doc\nmine\n")
                }
            }
        }
    }
}
