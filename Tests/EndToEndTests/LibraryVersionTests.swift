import Foundation
import Testing

extension EndToEnd {
    /// Versions and conflicts of documents, as an app meets them.
    @Suite("Library versions", .timeLimit(.minutes(5)))
    struct LibraryVersionTests {
        /// Edits of one document on two devices; `body` gets the second, on which its own edit lost, and an app there that
        /// presents the document.
        private static func withConflict(_ body: (Drive, App) async throws -> Void) async throws {
            try await Workspace.use { space in
                let (first, second) = try await space.devicesOnNetwork()
                try await second.sh("cat doc")
                let app = try App()
                try await app.present("p", at: "\(second.mountpoint)/doc")
                try await space.sh("rm network")
                try await second.sh("echo mine > doc")
                try await app.hears("callback p relinquishToWriter")
                // Once for emptying the document and once for writing it, or once for both.
                try await app.hears("callback p reacquire", skipping: ["callback p didChange"])
                try await first.sh("echo theirs > doc")
                try await first.sync()
                try await space.sh("ln -s server network")
                try await second.quire("sync", "--timeout", "45").require(0, 2)
                try await body(second, app)
            }
        }

        private static let noise = [
            "callback p didChange", "callback p relinquish", "callback p save", "callback p reacquire",
        ]

        @Test("Thousands of kept versions of a document are all listed, newest first")
        func manyVersions() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("echo text > doc")
                let id = try await drive.json("info", "doc").only("id").string
                let directory = "\(drive.home)/versions/\(id)"
                try await space.sh(
                    """
                    mkdir -p '\(directory)' && cd '\(directory)' &&
                    seq -f '20260131T080509.%09.0fZ-0123456789ab' 6000 | xargs touch
                    """)
                let listed = try await drive.quire("versions", "doc").require(0).output.split(separator: "\n")
                let names = listed.map { $0.prefix { $0 != " " } }
                #expect(names.count == 6000)
                #expect(names == names.sorted(by: >))
            }
        }

        @Test("A conflict of two devices is a conflict version; its presenter stays with the document and is told")
        func conflict() async throws {
            try await Self.withConflict { drive, app in
                try await app.hears("callback p didGain mine|", skipping: Self.noise)
                try app.tell("versions \(drive.mountpoint)/doc")
                try await app.hears(
                    "versions current=true unresolved=1 found=1 mine|:true:false", skipping: Self.noise)
                // Of whom is the document that the presenter has now?
                try await drive.sh("test \"$(cat doc)\" = theirs")
                try await app.hears(
                    "callback p relinquishToReader",
                    skipping: ["callback p didChange", "callback p relinquishToWriter", "callback p reacquire"])
                try app.tell("values \(drive.mountpoint)/doc")
                #expect(try await app.next(skipping: Self.noise).hasSuffix("conflicts=true"))
            }
        }

        @Test("Replace, resolve, remove: each does what it says, and presenters hear of it")
        func resolving() async throws {
            try await Self.withConflict { drive, app in
                let doc = "\(drive.mountpoint)/doc"
                try await app.hears("callback p didGain mine|", skipping: Self.noise)
                try app.tell("replace \(doc)")
                try await app.hears("done", skipping: Self.noise)
                try #expect(await drive.sh("cat doc") == "mine\n")
                try app.tell("resolve \(doc)")
                var heard = [String]()
                while !(heard.contains("done") && heard.contains("callback p didResolve true")) {
                    heard.append(try await app.next(skipping: Self.noise))
                }
                #expect(heard.contains("resolved true"))
                try app.tell("versions \(doc)")
                try await app.hears(
                    "versions current=true unresolved=0 found=1 mine|:true:true", skipping: Self.noise)
                try #expect(await drive.sh("ls") == "doc\n")
                try app.tell("remove-current \(doc)")
                #expect(try await app.next(skipping: Self.noise).contains("the document itself"))
                try app.tell("remove-others \(doc)")
                try await app.hears("callback p didLose", skipping: Self.noise)
                try app.tell("versions \(doc)")
                try await app.hears("versions current=true unresolved=0 found=0 ", skipping: Self.noise)
                try app.tell("remove \(doc)")
                try await app.hears("no versions", skipping: Self.noise)
            }
        }

        @Test("An app adds versions of a document, by copy and by move, and lets them go; presenters hear of them")
        func adding() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                let doc = "\(drive.mountpoint)/doc"
                try await drive.sh("echo text > doc; mkdir dir")
                let (app, other) = (try App(), try App())
                try await other.present("p", at: doc)
                try app.tell("add \(doc) \(doc)")
                try await app.hears("added false true true")
                try await other.hears(
                    callbacks: ["didGain none"], of: "p",
                    skipping: [
                        "callback p relinquish", "callback p save", "callback p didChange", "callback p reacquire",
                    ])
                try await other.hears(
                    callbacks: ["didGain none"], of: "p", skipping: ["callback p didChange", "callback p reacquire"])
                try app.tell("versions \(doc)")
                try await app.hears("versions current=true unresolved=0 found=2 staged|:false:true text|:false:true")
                try app.tell("discard \(doc)")
                try await app.hears("discardable true true")
                try await app.hears("done")
                // Its content becomes the document's, and it is gone.
                try app.tell("move \(doc)")
                try await app.hears("done")
                try #expect(await drive.sh("cat doc") == "staged\n")
                try app.tell("versions \(doc)")
                try await app.hears("versions current=true unresolved=0 found=1 text|:false:true")
                // The folder provider keeps none by itself.
                try app.tell("nonlocal \(doc)")
                try await app.hears("nonlocal 0")
                try app.tell("add \(drive.mountpoint)/dir \(doc)")
                #expect(try await app.next().contains("is no file"))
                try app.tell("add \(doc) \(drive.mountpoint)/none")
                #expect(try await app.next().hasPrefix("refused add"))
                try #expect(await drive.sh("ls '\(drive.home)/staging' | grep version- || true") == "")
            }
        }

        @Test(
            "Who removes a conflict copy, or gives it another name, takes a version from the document, and its presenter hears"
        )
        func removedByPrograms() async throws {
            try await Self.withConflict { drive, app in
                try await app.hears("callback p didGain mine|", skipping: Self.noise)
                try await drive.sh("cp -p doc\\ * kept; mv doc\\ * aside")
                try await app.hears("callback p didLose", skipping: Self.noise)
                try await drive.sh("mv aside 'doc (conflicted copy 2026-01-02 from desk)'")
                try await app.hears("callback p didGain mine|", skipping: Self.noise)
                try await drive.sh("rm doc\\ *")
                try await app.hears("callback p didLose", skipping: Self.noise)
                try app.tell("versions \(drive.mountpoint)/doc")
                try await app.hears("versions current=true unresolved=0 found=0 ", skipping: Self.noise)
            }
        }

        @Test("A conflict version that is removed takes no version along that was kept of another of its name")
        func removedAmongOthers() async throws {
            try await Self.withConflict { drive, app in
                try await app.hears("callback p didGain mine|", skipping: Self.noise)
                try await drive.sh("ls doc\\ * > ../name; cp -p doc\\ * aside")
                try await drive.quire("resolve", "doc", "--keep", "current").require(0)
                try await drive.sh("echo other > aside; mv aside \"$(cat ../name)\"")
                let doc = "\(drive.mountpoint)/doc"
                try app.tell("remove-conflicts \(doc)")
                try await app.hears("done", skipping: ["callback p"])
                let kept = try await drive.quire("versions", "doc").require(0).output
                #expect(kept.split(separator: "\n").count == 1, "\(kept)")
                try #expect(await drive.sh("ls") == "doc\n")
            }
        }

        private static func name(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? "" }

        @Test("Promised values tell of a document whose content is elsewhere, and leave it there")
        func values() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("echo text > doc")
                try await drive.sync()
                try await drive.quire("evict", "doc").require(0)
                let app = try App()
                for _ in 0..<2 {
                    try app.tell("values \(drive.mountpoint)/doc")
                    try await app.hears(
                        "values reachable=true size=5 known=7 notDownloaded uploaded=true thumbnails=0 conflicts=false")
                }
                try app.tell("values \(drive.mountpoint)/none")
                #expect(try await app.next().contains("nothing is at none"))
                try app.tell("values /etc/passwd")
                #expect(try await app.next().contains("is on no drive"))
            }
        }

        @Test("Promised values tell what a document is and since when, whether it is here or not, and leave it there")
        func details() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh(
                    "echo text > doc.png; touch -d @1000000000 doc.png; setfattr -n user.xdg.tags -v a,b doc.png")
                try await drive.sync()
                try await drive.quire("evict", "doc.png").require(0)
                let app = try App()
                try app.tell("details \(drive.mountpoint)/doc.png")
                try await app.hears(
                    "details known=16 public.png image=true PNG image dates=2 modified=1000000000 generation=false "
                        + "allocated=0 package=false hidden=false in=\(Self.name(drive.mountpoint)) percent=0/100 tags=a,b "
                        + "container=embedded")
                #expect(try await drive.json("status", "doc.png").only("state").string == "dataless")
                try await drive.sh("cat doc.png > ../copy")
                try app.tell("details \(drive.mountpoint)/doc.png")
                let answer = try await app.next()
                #expect(
                    answer.contains("generation=true allocated=5") && answer.contains("percent=100/100"), "\(answer)")
            }
        }

        @Test("Observers hear of ubiquity attributes that an app says it changed, inside a write only")
        func attributes() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("echo text > doc")
                let (one, two) = (try App(), try App())
                let doc = "\(drive.mountpoint)/doc"
                try await one.present("p", at: doc)
                try two.tell("coordinator c")
                try two.tell("attributes c \(doc)")
                #expect(try await two.next().contains("is not being written"))
                try two.tell("access w async c write,contentIndependentMetadataOnly:\(doc)")
                try await two.hears("granted w \(doc)")
                try await one.hears("callback p relinquishToWriter")
                try two.tell("attributes c \(doc)")
                try await one.hears("callback p didChangeUbiquityAttributes")
            }
        }
    }
}
