import Foundation
import Testing

extension EndToEnd {
    /// The client library in processes of their own, on a mounted drive.
    @Suite("Library accesses", .timeLimit(.minutes(5)))
    struct LibraryAccessTests {
        /// How long a newcomer is watched to tell that it waits.
        private static let pause = 120

        private struct Row: CustomTestStringConvertible, Sendable {
            let holder: String
            let newcomer: String
            let waits: Bool
            var testDescription: String { "\(holder) then \(newcomer)" }
        }

        /// Semantics.md, "Who waits for whom": the holder, the newcomer of another process, whether it waits.
        private static let table: [Row] = [
            ("read:doc", "read:doc", false),
            ("read:doc", "write:doc", true),
            ("read:doc", "write,forMerging:doc", true),
            ("read:doc", "write,contentIndependentMetadataOnly:doc", true),
            ("read:doc", "write,forDeleting:doc", true),
            ("read:doc", "write,forMoving:doc", true),
            ("read:doc", "write,forReplacing:doc", true),
            ("write:doc", "read:doc", true),
            ("write:doc", "read,immediatelyAvailableMetadataOnly:doc", true),
            ("write:doc", "write:doc", true),
            ("write,forMerging:doc", "read,withoutChanges:doc", true),
            ("write,contentIndependentMetadataOnly:doc", "write,forDeleting:doc", true),
            ("write,forMoving:doc", "read:doc", true),
            ("write,forReplacing:doc", "write,forReplacing:doc", true),
            ("read:doc", "write:other", false),
            ("write:doc", "write:other", false),
            // Of a plain directory, and what is in it.
            ("read:dir/child", "read:dir", false),
            ("read:dir/child", "write:dir", false),
            ("write:dir/child", "read:dir", false),
            ("write:dir/child", "write:dir", false),
            ("read:dir/child", "write,forDeleting:dir", true),
            ("write:dir/child", "write,forMoving:dir", true),
            ("write:dir/child", "write,forReplacing:dir", true),
            ("read:dir", "write:dir/child", false),
            ("write:dir", "read:dir/child", false),
            ("write,forDeleting:dir", "read:dir/child", true),
            ("write,forMoving:dir", "write:dir/child", true),
            ("write,forReplacing:dir", "read:dir/child", true),
            // Of a package, which is one document.
            ("read:pack.bundle/a", "read:pack.bundle/b", false),
            ("read:pack.bundle/a", "write:pack.bundle/b", true),
            ("write:pack.bundle/a", "read:pack.bundle", true),
            ("write:pack.bundle", "read:pack.bundle/a", true),
            ("read:pack.bundle", "write:pack.bundle/a", true),
        ].map { Row(holder: $0.0, newcomer: $0.1, waits: $0.2) }

        @Test("A handle that came to rest and writes again waits for an app's access, where the driver sees its writes")
        func writesAgain() async throws {
            try await Workspace.use { space in
                let drive = try await space.drive()
                try await drive.mount(options: ["-o", "nopassthrough,nowriteback"])
                try await drive.sh("echo text > doc")
                let (app, doc) = (try App(), "\(drive.mountpoint)/doc")
                // Where nobody takes part a handle has no claim.
                try app.tell("present p \(doc)")
                try await app.hears("presenting p 1")
                async let program = drive.sh(
                    """
                    exec 3>> doc; echo one >&3; touch ../opened
                    until [ -e ../go ]; do sleep 0.01; done; echo two >&3; touch ../written
                    """)
                let exists = { (name: String) in FileManager.default.fileExists(atPath: "\(space.root)/\(name)") }
                try await eventually("the program has written", seconds: 20) { exists("opened") }
                let others = ["callback"]
                try app.tell("access w async - write:\(doc)")
                #expect(try await app.next(skipping: others) == "granted w \(doc)")
                try await space.sh("touch go")
                try await eventually("it waits", seconds: 20) {
                    await drive.quire("coordination").output.contains("waits for")
                }
                #expect(!exists("written"))
                try app.tell("tell w end")
                #expect(try await app.next(skipping: others) == "ended w")
                _ = try await program
                #expect(try await drive.sh("cat doc") == "text\none\ntwo\n")
            }
        }

        @Test(
            "A program that waited keeps nothing once it has done what it waited for",
            arguments: ["mv -f .doc.swx doc", "rm doc", "python3 -c 'import os; os.truncate(\"doc\", 0)'", ": > doc"])
        func goneOn(doing: String) async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("echo text > doc; echo more > .doc.swx")
                let app = try App()
                // Time and again the only app is gone just when the program, which had to wait elsewhere, is back.
                for round in 0..<3 {
                    try app.tell("access w async - write:\(drive.mountpoint)/doc")
                    #expect(try await app.next() == "granted w \(drive.mountpoint)/doc")
                    async let program = drive.sh(doing)
                    try await eventually("it waits", seconds: 20) {
                        await drive.quire("coordination").output.contains("waits for")
                    }
                    try app.tell("tell w end")
                    #expect(try await app.next() == "ended w")
                    _ = try await program
                    try await eventually("nothing is held", seconds: 1) {
                        await drive.quire("coordination").output == "nobody\n"
                    }
                    try await drive.sh("echo \(round) > doc; echo more > .doc.swx")
                }
            }
        }

        @Test(
            "A program that waits for an app keeps no directory from others, by whichever path",
            arguments: [
                "doc": [
                    "mv -f .doc.swx doc", "mv doc moved", "rm doc", "python3 -c 'import os; os.truncate(\"doc\", 0)'",
                ],
                "made": [
                    "mv .doc.swx made", ": > made", "mkdir made", "ln -s doc made", "ln .doc.swx made", "mkfifo made",
                ],
            ], ["", "dir/"])
        func keepsNoDirectory(doings: (key: String, value: [String]), place: String) async throws {
            try await Workspace.use { space in
                let drive = try await space.drive()
                try await drive.mount(options: ["-o", "default_permissions"])
                let app = try App()
                let item = "\(drive.mountpoint)/\(place)\(doings.key)"
                for doing in doings.value {
                    try await drive.sh(
                        "rm -rf dir made moved; mkdir dir; cd ./\(place); echo text > doc; echo more > .doc.swx")
                    try app.tell("access w async - write:\(item)")
                    #expect(try await app.next() == "granted w \(item)")
                    // By a path of which only the last name lies in the drive.
                    async let program = drive.sh("cd ./\(place); \(doing)")
                    try await eventually("it waits", seconds: 20) {
                        await drive.quire("coordination").output.contains("waits for")
                    }
                    // As an app does that saves under another name while it has access.
                    let others = "cd ./\(place); touch new; mv new newer; ln newer third; rm newer third; ls -l"
                    try await drive.sh("timeout 3 sh -ec '\(others)'")
                    try app.tell("tell w end")
                    #expect(try await app.next() == "ended w")
                    _ = try await program
                }
            }
        }

        @Test(
            "A program that finds, once it has waited, that it can do nothing keeps nothing either",
            arguments: [
                ("mkdir made", "made", "write text"), ("ln doc made", "made", "write text"),
                ("rm doc", "doc", "remove"), ("mv doc moved", "doc", "remove"),
            ])
        func failed(doing: String, item: String, meanwhile: String) async throws {
            try await Workspace.use { space in
                let drive = try await space.drive()
                try await drive.mount(options: ["-o", "default_permissions"])
                try await drive.sh("echo text > doc")
                let app = try App()
                try app.tell("access w async - write:\(drive.mountpoint)/\(item)")
                #expect(try await app.next() == "granted w \(drive.mountpoint)/\(item)")
                async let program = drive.sh("! \(doing)")
                try await eventually("it waits", seconds: 20) {
                    await drive.quire("coordination").output.contains("waits for")
                }
                for order in [meanwhile, "end"] { try app.tell("tell w \(order)") }
                #expect(try await app.next() == "ended w")
                _ = try await program
                try await eventually("nothing is held", seconds: 1) {
                    await drive.quire("coordination").output == "nobody\n"
                }
            }
        }

        @Test("Two processes wait for each other as the table says")
        func waitTable() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh(
                    "mkdir dir pack.bundle; echo 1 > doc; echo 2 > other; touch dir/child pack.bundle/a pack.bundle/b")
                let (one, two) = (try App(), try App())
                func access(_ name: String, _ what: String) -> String {
                    "access \(name) async - \(what.replacing(":", with: ":\(drive.mountpoint)/"))"
                }
                for (number, row) in Self.table.enumerated() {
                    try one.tell(access("h\(number)", row.holder))
                    #expect(try await one.next().hasPrefix("granted h\(number) "), "\(row)")
                    try two.tell(access("n\(number)", row.newcomer))
                    if row.waits {
                        try await two.isSilent(milliseconds: Self.pause)
                        try one.tell("tell h\(number) end")
                    }
                    #expect(try await two.next().hasPrefix("granted n\(number) "), "\(row)")
                    if !row.waits { try one.tell("tell h\(number) end") }
                    try two.tell("tell n\(number) end")
                    try await one.hears("ended h\(number)")
                    try await two.hears("ended n\(number)")
                }
            }
        }

        @Test("The accessor gets the URL that the item has when access is granted")
        func followsMoves() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("echo text > doc; echo other > other")
                let (one, two) = (try App(), try App())
                let root = drive.mountpoint
                try one.tell("coordinator c")
                try one.tell("access m async c write,forMoving:\(root)/doc write,forReplacing:\(root)/new")
                try await one.hears("granted m \(root)/doc \(root)/new")
                try two.tell("access r async - read:\(root)/doc write:\(root)/other")
                try await two.isSilent()
                try one.tell("tell m move new")
                try await one.hears("moved m new")
                try one.tell("tell m end")
                try await one.hears("ended m")
                try await two.hears("granted r \(root)/new \(root)/other")
                try two.tell("tell r show")
                try await two.hears("content r text|")
                try two.tell("tell r end")
                try await two.hears("ended r")
            }
        }

        @Test("An item that is gone when access is granted is no such file; a write may make it")
        func gone() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("echo text > doc; echo text > doc2")
                let (one, two) = (try App(), try App())
                let root = drive.mountpoint
                try one.tell("access d async - write,forDeleting:\(root)/doc")
                try await one.hears("granted d \(root)/doc")
                try two.tell("access r async - read:\(root)/doc")
                // The reader is in the queue before the writer, which it would wait for otherwise.
                try await eventually("the reader waits", seconds: 20) {
                    await drive.quire("coordination").output.contains("waits for")
                }
                try two.tell("access w async - write:\(root)/doc")
                try await two.isSilent()
                try one.tell("tell d remove")
                try one.tell("tell d end")
                try await one.hears("ended d")
                try await two.hears(allOf: ["failed r cocoa 4", "granted w \(root)/doc"])
                try two.tell("tell w write made")
                try two.tell("tell w end")
                try await two.hears("ended w")
                try #expect(await drive.sh("cat doc") == "made\n")
            }
        }

        @Test("cancel() ends what waits, with the code for it; what runs goes on")
        func cancels() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("echo text > doc; echo text > other")
                let (one, two) = (try App(), try App())
                let root = drive.mountpoint
                try one.tell("access h async - write:\(root)/doc")
                try await one.hears("granted h \(root)/doc")
                try two.tell("coordinator c")
                try two.tell("access runs async c write:\(root)/other")
                try await two.hears("granted runs \(root)/other")
                try two.tell("access waits async c read:\(root)/doc")
                try two.tell("access queued queue c read:\(root)/doc")
                try await two.isSilent()
                try two.tell("cancel c")
                try await two.hears(allOf: ["failed waits cocoa 3072", "failed queued cocoa 3072"])
                try two.tell("tell runs end")
                try await two.hears("ended runs")
                try one.tell("tell h end")
                try await one.hears("ended h")
                // Nothing of the cancelled is left in the way.
                try one.tell("access again async - write:\(root)/doc")
                try await one.hears("granted again \(root)/doc")
            }
        }

        @Test("Killed in its accessor, an app gives its access back at once")
        func killed() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("echo text > doc")
                let (one, two) = (try App(), try App())
                try one.tell("access h async - write:\(drive.mountpoint)/doc")
                try await one.hears("granted h \(drive.mountpoint)/doc")
                try two.tell("access n async - write:\(drive.mountpoint)/doc")
                try await two.isSilent()
                one.kill()
                try await two.hears("granted n \(drive.mountpoint)/doc")
            }
        }

        @Test("A daemon that restarts during an access: its end says so, and the next access works")
        func restart() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("echo text > doc")
                let app = try App()
                let root = drive.mountpoint
                try app.tell("access h async - write:\(root)/doc")
                try await app.hears("granted h \(root)/doc")
                try drive.crash()
                try app.tell("access down async - read:\(root)/doc")
                let refusal = try await app.next()
                #expect(refusal.hasPrefix("failed down ") && refusal.contains("quire mount"), "\(refusal)")
                try await drive.mount()
                try app.tell("tell h end")
                let end = try await app.next()
                #expect(end.hasPrefix("failed h ") && end.contains("the daemon ended during the access"), "\(end)")
                try app.tell("access again async - read:\(root)/doc")
                try await app.hears("granted again \(root)/doc")
            }
        }

        @Test("Nesting: a read in a write, anything in a preparation; all else is an error, not a hang")
        func nesting() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("echo text > doc")
                let app = try App()
                let doc = "\(drive.mountpoint)/doc"
                let refused = { (name: String) in { (line: String) in line.hasPrefix("refused \(name) ") } }
                for (name, form, what, nested, isAllowed) in [
                    ("a", "async", "write", "read", true), ("b", "async", "write", "write", false),
                    ("c", "async", "read", "read", false), ("d", "async", "read", "write", false),
                    ("e", "async", "write", "other", false), ("f", "prepare", "read", "read", true),
                    ("g", "prepare", "read", "write", true),
                ] {
                    try app.tell("coordinator c\(name)")
                    try app.tell("access \(name) \(form) c\(name) \(what):\(doc)")
                    try await app.hears("granted \(name) \(doc)")
                    try app.tell("tell \(name) nest \(nested)")
                    let line = try await app.next()
                    #expect(
                        isAllowed ? line == "nested \(name)" : refused(name)(line), "\(form) \(what) \(nested): \(line)"
                    )
                    try app.tell("tell \(name) end")
                    try await app.hears("ended \(name)")
                }
            }
        }

        @Test("The synchronous form runs on the calling thread, the callback form in its queue")
        func forms() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("echo text > doc")
                let app = try App()
                let doc = "\(drive.mountpoint)/doc"
                try app.tell("access s sync - read:\(doc)")
                try await app.hears("granted s \(doc)")
                try await app.hears("on-caller true")
                #expect(try await app.next().hasPrefix("failed s access is asked for inside of another access"))
                try app.tell("access q queue - read:\(doc)")
                try await app.hears("granted q \(doc)")
                try await app.hears("in-queue true")
                try app.tell("access u url - read:\(doc)")
                try await app.hears("granted u \(doc)")
                try app.tell("tell u fail")
                try await app.hears("failed u cocoa 4866")
            }
        }

        @Test("A link is meant itself, or with the option its target; a path through a link leads to the same item")
        func links() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("mkdir dir; echo text > dir/doc; ln -s dir/doc link; ln -s dir dirlink")
                let (one, two) = (try App(), try App())
                let root = drive.mountpoint
                try one.tell("access h async - write:\(root)/dir/doc")
                try await one.hears("granted h \(root)/dir/doc")
                try two.tell("access link async - read:\(root)/link")
                try await two.hears("granted link \(root)/link")
                try two.tell("access target async - read,resolvesSymbolicLink:\(root)/link")
                try two.tell("access through async - read:\(root)/dirlink/doc")
                try await two.isSilent()
                try one.tell("tell h end")
                try await two.hears(
                    allOf: ["granted target \(root)/dir/doc", "granted through \(root)/dirlink/doc"])
            }
        }

        @Test("What is on no drive, no file, or not UTF-8 is refused with words")
        func outside() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                let app = try App()
                for (url, words) in [
                    ("/etc/passwd", "is on no drive"), ("https://example.com/a", "is not the URL of a file"),
                    ("file://\(drive.mountpoint)/%ff", "no path in UTF-8"),
                    ("file://\(drive.mountpoint)/a%00b", "no path in UTF-8"),
                ] {
                    try app.tell("access x async - read:\(url)")
                    let line = try await app.next()
                    #expect(line.hasPrefix("failed x ") && line.contains(words), "\(url): \(line)")
                }
                try app.tell("access both async - read:\(drive.mountpoint)/a write:/etc/passwd")
                #expect(try await app.next().contains("is on no drive"))
                try app.tell("present p /etc/passwd")
                #expect(try await app.next().contains("is on no drive"))
                try app.tell("access two async - write,forMoving,forDeleting:\(drive.mountpoint)/a")
                #expect(try await app.next().contains("at most one option"))
            }
        }

        @Test("Containers have URLs while the drive runs, and none when it does not")
        func containers() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.quire("container", "create", "iCloud.com.example.Notes", "--name", "Notes").require(0)
                let app = try App()
                try app.tell("container \(drive.home)")
                try await app.hears("container \(drive.mountpoint)")
                try app.tell("container \(drive.home) iCloud.com.example.Notes")
                try await app.hears("container \(drive.mountpoint)/Notes")
                try app.tell("container \(drive.home) com.example.none")
                try await app.hears("container none")
                try app.tell("drive file://\(drive.mountpoint)/whatever%20there")
                try await app.hears("drive \(drive.home)")
                try await drive.unmount()
                try app.tell("container \(drive.home)")
                try await app.hears("container none")
            }
        }

        @Test("Purposes: set once; equal ones do not wait for each other across processes")
        func purposes() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("echo text > doc")
                let (one, two) = (try App(), try App())
                let doc = "\(drive.mountpoint)/doc"
                try one.tell("coordinator c purpose=com.example.shared")
                try two.tell("coordinator c purpose=com.example.shared")
                try one.tell("access h async c write:\(doc)")
                try await one.hears("granted h \(doc)")
                try two.tell("access n async c write:\(doc)")
                try await two.hears("granted n \(doc)")
                try await one.present("p", at: doc)
                try one.tell("coordinator d presenter=p purpose=x")
                #expect(try await one.next().hasPrefix("refused d the coordinator was made with a presenter"))
            }
        }

        @Test("Hundreds of accesses at once, of two apps, are served, and no line that they add is lost")
        func crowd() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("touch doc")
                let (one, two) = (try App(), try App())
                try one.tell("crowd 150 \(drive.mountpoint)/doc")
                try two.tell("crowd 150 \(drive.mountpoint)/doc")
                for app in [one, two] { try await app.hears("crowd 0 ") }
                let lines = try await drive.sh("sort -n doc").split(separator: "\n").map(String.init)
                #expect(lines == (0..<150).flatMap { ["\($0)", "\($0)"] })
            }
        }
    }
}
