import Foundation
import Testing

extension EndToEnd {
    /// Presenters of the client library, against apps and against programs that know nothing of them.
    @Suite("Library presenters", .timeLimit(.minutes(5)))
    struct LibraryPresenterTests {
        @Test("What shell tools do reaches a presenter in the order that is promised")
        func shell() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("echo a > doc")
                let app = try App()
                try await app.present("p", at: "\(drive.mountpoint)/doc")
                for (script, callbacks) in [
                    ("cat doc", ["relinquishToReader", "save", "reacquire"]),
                    ("echo more >> doc", ["relinquishToWriter", "didChange", "reacquire"]),
                    ("truncate -s 1 doc", ["relinquishToWriter", "didChange", "reacquire"]),
                    ("printf new > .doc.swp; mv .doc.swp doc", ["relinquishToWriter", "didChange", "reacquire"]),
                    ("mv doc doc2", ["relinquishToWriter", "didMove doc2", "reacquire"]),
                    ("rm doc2", ["relinquishToWriter", "accommodateDeletion", "reacquire"]),
                ] {
                    try await drive.sh(script)
                    try await app.hears(callbacks: callbacks, of: "p")
                }
                // Removed, it hears nothing more; `ls` and `stat` ask nobody.
                try await drive.sh("echo again > doc2")
                try app.tell("unpresent p")
                try await app.present("q", at: "\(drive.mountpoint)/doc2", skipping: ["callback p"])
                try await drive.sh("ls -l; stat doc2; cat doc2")
                try await app.hears(callbacks: ["relinquishToReader", "save", "reacquire"], of: "q")
            }
        }

        @Test("What another app does reaches a presenter in the order that is promised")
        func apps() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("echo a > doc; mkdir -p pack.bundle; echo b > pack.bundle/inside")
                let (one, two) = (try App(), try App())
                let root = drive.mountpoint
                try await one.present("p", at: "\(root)/doc")
                for (access, order, callbacks) in [
                    ("read", "show", ["relinquishToReader", "save", "reacquire"]),
                    ("read,withoutChanges", "show", ["relinquishToReader", "reacquire"]),
                    ("write", "write new", ["relinquishToWriter", "didChange", "reacquire"]),
                    ("write,forMerging", "write merged", ["relinquishToWriter", "save", "didChange", "reacquire"]),
                    ("write,forMoving", "move moved", ["relinquishToWriter", "didMove moved", "reacquire"]),
                ] {
                    try two.tell("access a async - \(access):\(root)/doc")
                    #expect(try await two.next() == "granted a \(root)/doc")
                    try two.tell("tell a \(order)")
                    try two.tell("tell a end")
                    while try await two.next() != "ended a" {}
                    try await one.hears(callbacks: callbacks, of: "p")
                }
                try two.tell("access d async - write,forDeleting:\(root)/moved")
                try await two.hears("granted d \(root)/moved")
                try await one.hears(callbacks: ["relinquishToWriter", "accommodateDeletion"], of: "p")
                try two.tell("tell d remove")
                try two.tell("tell d end")
                try await two.hears("ended d")
                try await one.hears("callback p reacquire")
                // A deletion inside a package is asked of the package's presenters.
                try await one.present("k", at: "\(root)/pack.bundle", count: 2)
                try two.tell("access i async - write,forDeleting:\(root)/pack.bundle/inside")
                try await two.hears("granted i \(root)/pack.bundle/inside")
                try await one.hears(callbacks: ["relinquishToWriter", "accommodateSubitemDeletion inside"], of: "k")
            }
        }

        @Test(
            "Who is told that another file took the document's place finds that one, coordinated or not",
            arguments: ["coordinated", "plain"])
        func replaced(manner: String) async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                let doc = "\(drive.mountpoint)/doc"
                try await drive.sh("printf 0 > doc")
                let app = try App()
                try app.tell("follow \(doc) \(manner) 400")
                try await app.hears("following")
                // Last of all programs to go on when the driver has answered it.
                let idle = ["chrt", "--idle", "0", "/usr/bin/python3", "\(Machine.programs)/replacing.py"]
                try await Command(
                    arguments: idle + ["numbers", doc, "400"], limitSeconds: 120, abortingMountsAt: [drive.mountpoint]
                ).succeed()
                try await app.hears("followed stale=0")
            }
        }

        @Test("Content that is brought here or evicted is no change: observers hear of the ubiquity attributes alone")
        func contentComesAndGoes() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("echo text > doc")
                try await drive.sync()
                let app = try App()
                try app.tell("present p \(drive.mountpoint)/doc")
                try await app.hears("presenting p 1")
                try await drive.quire("evict", "doc").require(0)
                try await app.hears("callback p didChangeUbiquityAttributes")
                try await drive.quire("download", "doc").require(0)
                try await app.hears("callback p didChangeUbiquityAttributes")
                try await drive.sh("setfattr -n user.k -v v doc")
                for callback in ["relinquishToWriter", "didChange", "reacquire"] {
                    try await app.hears("callback p \(callback)")
                }
            }
        }

        @Test("cat prints what a presenter has not saved; its own coordinator goes ahead of the reader")
        func saves() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("echo old > doc")
                let (one, two) = (try App(), try App())
                let doc = "\(drive.mountpoint)/doc"
                try await one.present("p", at: doc)
                try one.tell("edit p unsaved")
                try await one.isSilent(milliseconds: 50)
                try #expect(await drive.sh("cat doc") == "unsaved\n")
                try await one.hears(callbacks: ["relinquishToReader", "save", "reacquire"], of: "p")
                try one.tell("edit p unsaved once more")
                try two.tell("access r async - read:\(doc)")
                try await two.hears("granted r \(doc)")
                try two.tell("tell r show")
                try await two.hears("content r unsaved once more|")
            }
        }

        @Test("A presenter that cannot save ends an app's access with its reason, not a program's")
        func refuses() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("echo old > doc")
                let (one, two) = (try App(), try App())
                let doc = "\(drive.mountpoint)/doc"
                try await one.present("p", at: doc)
                try one.tell("answer p refusing")
                try two.tell("access r async - read:\(doc)")
                let line = try await two.next()
                #expect(line.hasPrefix("failed r ") && line.contains("refused"), "\(line)")
                try #expect(await drive.sh("cat doc") == "old\n")
                // A coordinator of its own would wait for the one that asks: an error, at once.
                try one.tell("answer p other")
                try two.tell("access again async - read:\(doc)")
                try await two.hears("granted again \(doc)")
                let skipped = ["callback p relinquish", "callback p save", "callback p reacquire"]
                #expect(try await one.next(skipping: skipped).hasPrefix("refused p a presenter that is asked"))
            }
        }

        @Test("A presenter that never answers is passed over, and its app can go on")
        func silent() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("echo old > doc")
                let app = try App()
                let doc = "\(drive.mountpoint)/doc"
                try await app.present("p", at: doc)
                try app.tell("answer p silent")
                try #expect(await drive.sh("cat doc") == "old\n")
                try await app.hears(callbacks: ["relinquishToReader", "save"], of: "p")
                // Meanwhile the document may have been uploaded.
                try await app.hears("callback p reacquire")
                try app.tell("coordinator c presenter=p")
                try app.tell("access w async c write:\(doc)")
                try await app.hears("granted w \(doc)")
            }
        }

        @Test("Its own coordinator neither asks nor tells a presenter; others of its process hear")
        func own() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("echo old > doc")
                let app = try App()
                let doc = "\(drive.mountpoint)/doc"
                try await app.present("p", at: doc)
                try await app.present("q", at: doc, count: 2)
                try app.tell("coordinator c presenter=p")
                try app.tell("access w async c write:\(doc)")
                try await app.hears(allOf: ["callback q relinquishToWriter", "granted w \(doc)"])
                try app.tell("tell w write new")
                try app.tell("tell w end")
                var heard: [String] = []
                for _ in 0..<3 { heard.append(try await app.next()) }
                #expect(heard.filter { $0 != "ended w" } == ["callback q didChange", "callback q reacquire"])
                try await app.isSilent()
            }
        }

        @Test("A presenter without an item hears of it once its own coordinator has made it")
        func created() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                let app = try App()
                let doc = "\(drive.mountpoint)/new"
                try await app.present("p", at: "-")
                try app.tell("coordinator c presenter=p")
                try app.tell("access w async c write:\(doc)")
                try await app.hears("granted w \(doc)")
                try app.tell("tell w write made")
                try app.tell("place p \(doc)")
                try app.tell("tell w end")
                try await app.hears("ended w")
                try #expect(await drive.sh("cat new") == "made\n")
                try await app.hears("callback p relinquishToReader")
            }
        }

        @Test("A directory's presenter hears of what is below it")
        func directories() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("mkdir -p dir/sub")
                let app = try App()
                try await app.present("p", at: "\(drive.mountpoint)/dir")
                try await drive.sh("touch dir/sub/new")
                try await app.hears("callback p subitemDidAppear new")
                try await drive.sh("mv dir/sub/new dir/named")
                try await app.hears("callback p subitemDidMove new named", skipping: ["callback p subitemDidChange"])
                try await drive.sh("rm dir/named")
                try await app.hears("callback p subitemDidChange named")
            }
        }

        @Test("What is made, written and moved at once is told of in the order in which it happened")
        func inOrder() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("mkdir dir")
                let app = try App()
                try await app.present("p", at: "\(drive.mountpoint)/dir")
                // On one processor, and ahead of the daemon there: whatever is answered, the program goes on first.
                let daemon = try #require(drive.daemonProcessID)
                let count = 400
                async let made: String = drive.sh(
                    """
                    cpu=$(taskset --cpu-list --pid $$ | sed 's/.*: //; s/[-,].*//')
                    taskset --all-tasks --cpu-list --pid $cpu \(daemon) > /dev/null
                    taskset --cpu-list --pid $cpu $$ > /dev/null; renice --priority -20 --pid $$ > /dev/null || true
                    for n in $(seq \(count)); do echo $n > dir/new$n; mv dir/new$n dir/named$n; done; : > dir/last
                    """)
                var (there, known) = (Set<String>(), Set<String>())
                while !there.contains("last") {
                    let words = try await app.next().split(separator: " ").dropFirst(2).map(String.init)
                    switch (words.first, words.count) {
                    case ("subitemDidAppear", 2):
                        there.insert(words[1])
                        known.insert(words[1])
                    case ("subitemDidMove", 3):
                        #expect(there.remove(words[1]) != nil, "\(words) came before it was there")
                        there.insert(words[2])
                        known.insert(words[2])
                    case ("subitemDidChange", 2):
                        #expect(known.contains(words[1]), "\(words) came before it was there")
                    default: throw Trouble("\(words) came")
                    }
                }
                _ = try await made
                #expect(there.count == count + 1)
            }
        }

        @Test("After a restart of the daemon presenters are registered again, and whoever gave way goes on")
        func restart() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("echo old > doc")
                let (one, two) = (try App(), try App())
                let doc = "\(drive.mountpoint)/doc"
                try await one.present("p", at: doc)
                try two.tell("access w async - write:\(doc)")
                try await two.hears("granted w \(doc)")
                try await one.hears("callback p relinquishToWriter")
                try drive.crash()
                try await one.hears("callback p reacquire")
                try await drive.mount()
                // What happened meanwhile nobody can tell it.
                try await one.hears("callback p didChange")
                try await drive.sh("cat doc")
                try await one.hears(callbacks: ["relinquishToReader", "save", "reacquire"], of: "p")
            }
        }
    }
}
