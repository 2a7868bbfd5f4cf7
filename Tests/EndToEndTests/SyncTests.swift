import Foundation
import Testing

extension EndToEnd {
    /// One drive and its provider.
    @Suite("Upload", .timeLimit(.minutes(5)))
    struct UploadTests {
        @Test("What was written is at the provider, byte for byte, when it has settled, and not at the next poll")
        func uploadWhenSettled() async throws {
            try await Workspace.use { space in
                let drive = try await space.drive()
                try await drive.quire("provider", "list").require(0)
                try drive.configure("poll_seconds", "3600")
                try await drive.mount()
                try await drive.sync()
                try await drive.sh("mkdir notes; seq 1000 > notes/numbers; echo hello > hello.txt")
                let wanted = try await drive.sh("cat notes/numbers")
                // A second or two where the machine has nothing else to do.
                for (path, content) in [("notes/numbers", wanted), ("hello.txt", "hello\n")] {
                    try await eventually("\(path) at the provider", seconds: 20) {
                        try await remote(drive, path) == content
                    }
                }
            }
        }

        @Test(
            "An upload changes neither inode, size nor times of the document, so no editor takes it for another program's"
        )
        func uploadLeavesDocument() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                let look = "stat -c '%n %i %s %y %z' doc old"
                try await drive.sh("echo text > doc; echo old > old; touch -d '2001-01-01 01:01:01.123456789' old")
                let before = try await drive.sh(look)
                try await drive.sync()
                #expect(try await drive.sh("getfattr --only-values -n user.quire.state doc") == "current")
                #expect(try await drive.sh(look) == before)
            }
        }

        @Test("quire sync returns when everything is at the provider, as plain files under the same paths")
        func syncIsComplete() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh(
                    """
                    mkdir -p a/b/c empty; for i in $(seq 60); do echo "file $i" > a/b/f$i; done; head -c 3000000 /dev/urandom > a/big
                    : > nothing; ln -s a/big link; chmod 600 a/b/f1; chmod 755 a/b/f2; touch -d '2001-01-01 01:01:01.5' a/b/f3
                    echo x > 'sp ace'; echo y > Ünïcode; setfattr -n user.note -v kept a/b/f4
                    """)
                try await drive.sync()
                try await expectProviderMatches(drive)
                #expect(try await drive.json("status")("pending")("upload").int == 0)
                try await drive.sh(
                    "rm -r a/b/c a/b/f1; mv a/b/f2 moved; mv a/b renamed; echo more >> a/big; rmdir empty")
                try await drive.sync()
                try await expectProviderMatches(drive)
            }
        }

        @Test("What a program stores by a mapping, after it closed the document, is uploaded")
        func lingeringMapping() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                let document = "\(drive.mountpoint)/doc"
                try await drive.python(
                    "lingering.py", [Machine.quire, drive.home, document, "\(drive.embeddedProvider)/doc"]
                ).succeed()
                try await expectProviderMatches(drive)
                #expect(try await drive.json("status")("pending")("upload").int == 0)
            }
        }

        @Test("An editor's save is one change of one document", arguments: ["rename over", "rename away", "rewrite"])
        func safeSave(way: String) async throws {
            let save = [
                "rename over": "echo two > .new; sync .new; mv .new doc.txt",
                "rename away": "mv doc.txt doc.txt.bak; echo two > doc.txt; rm doc.txt.bak",
                "rewrite": "echo two > doc.txt",
            ]
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("echo one > doc.txt")
                try await drive.sync()
                let id = try await drive.sh("getfattr --only-values -n user.quire.id doc.txt")
                try await drive.sh(save[way] ?? "false")
                #expect(try await drive.sh("getfattr --only-values -n user.quire.id doc.txt") == id)
                try await drive.sync()
                #expect(try await remote(drive, "doc.txt") == "two\n")
                #expect(try await drive.sh("getfattr --only-values -n user.quire.id doc.txt") == id)
                try await expectProviderMatches(drive)
            }
        }

        @Test("Editors' temporary files stay here, say so, and are uploaded when they become documents")
        func ephemeral() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh(
                    "echo x > .doc.swp; echo y > 'backup~'; echo z > film.part; echo d > doc; mkfifo pipe")
                try await drive.sync()
                for name in [".doc.swp", "backup~", "film.part"] {
                    #expect(!FileManager.default.fileExists(atPath: "\(drive.embeddedProvider)/\(name)"))
                    #expect(try await drive.sh("getfattr --only-values -n user.quire.state '\(name)'") == "local-only")
                }
                #expect(try await drive.sh("getfattr --only-values -n user.quire.state doc") == "current")
                #expect(!FileManager.default.fileExists(atPath: "\(drive.embeddedProvider)/pipe"))
                try await drive.sh("mv film.part film.mp4")
                try await drive.sync()
                #expect(try await remote(drive, "film.mp4") == "z\n")
            }
        }

        @Test("With the provider's folder gone the drive works on; edits queue and are uploaded when it is back")
        func offline() async throws {
            try await Workspace.use { space in
                let provider = "\(space.root)/shared"
                let drive = try await space.drive(provider: provider)
                try await drive.mount()
                try await drive.sh("echo one > one")
                try await drive.sync()
                try await space.sh("mv shared unplugged")
                try await drive.sh("echo two > two; cat one; mv one uno; ls")
                try await drive.quire("sync", "--timeout", "5", limitSeconds: 20).require(75)
                #expect(!FileManager.default.fileExists(atPath: provider), "an absent folder must not be made anew")
                let status = try await drive.json("status")
                #expect(try status("providers").array.contains { try !$0("online").bool })
                #expect(try status("pending")("upload").int >= 1)
                // An empty directory in its place is not the folder: nothing was deleted there.
                try await space.sh("mkdir shared")
                try await drive.quire("sync", "--timeout", "5", limitSeconds: 20).require(75)
                #expect(try await drive.sh("cat uno two") == "one\ntwo\n")
                try await space.sh("rmdir shared; mv unplugged shared")
                try await drive.sync()
                try await expectProviderMatches(drive, at: provider)
            }
        }

        @Test("A container's documents are in its own directory and at its own provider")
        func container() async throws {
            try await Workspace.use { space in
                let drive = try await space.drive()
                let notes = try space.directory("notes-provider")
                try await drive.quire("provider", "add", "notes", "folder:\(notes)").require(0)
                try await drive.quire(
                    "container", "create", "iCloud.com.example.Notes", "--name", "Notes", "--provider", "notes",
                    "--public"
                ).require(0)
                try await drive.mount()
                try await drive.sh(
                    "echo in > Notes/in.txt; echo out > out.txt; mkdir Notes/deep; echo d > Notes/deep/d")
                try await drive.sync()
                try await expectProviderMatches(drive, below: "Notes", at: notes)
                #expect(!FileManager.default.fileExists(atPath: "\(drive.embeddedProvider)/Notes/in.txt"))
                for attempt in ["mv Notes Other", "rmdir Notes", "mv out.txt Notes -T"] {
                    #expect(await drive.shell(attempt).run().status != 0, "\(attempt)")
                }
                let busy = "import os; os.rename('Notes', 'Other')"
                #expect(await drive.shell("/usr/bin/python3 -c \"\(busy)\"").run().errors.contains("Errno 16"))
                try await drive.sh("mv Notes/in.txt moved.txt; mv out.txt Notes/; mv Notes/deep deep")
                try await drive.sync()
                try await expectProviderMatches(drive, below: "Notes", at: notes)
                #expect(try await remote(drive, "moved.txt") == "in\n")
                #expect(try await remote(drive, "deep/d") == "d\n")
            }
        }

        private func remote(_ drive: Drive, _ path: String) async throws -> String? {
            try? String(contentsOfFile: "\(drive.embeddedProvider)/\(path)", encoding: .utf8)
        }
    }
}

/// Expects what a drive shows to be what its provider keeps: names, kinds, modes, times and content of files.
func expectProviderMatches(
    _ drive: Drive, below directory: String = ".", at provider: String? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
) async throws {
    let options = ["--file-mtime", "--no-links", "--skip", ".quire"]
    let shown = try await drive.python("tree.py", options + ["\(drive.mountpoint)/\(directory)"]).succeed()
    let kept = try await drive.python("tree.py", options + [provider ?? drive.embeddedProvider]).succeed()
    // Directories' modes are not compared: the provider's own hold there.
    let withoutDirectoryModes = { (tree: String) in tree.replacing(#/(?m)^0o4\d+/#, with: "directory") }
    expectSame(
        withoutDirectoryModes(shown), withoutDirectoryModes(kept), "drive and provider", sourceLocation: sourceLocation)
}

/// Expects two devices to show the same documents: names, modes, sizes, content, and the times of files.
func expectSameDrives(_ one: Drive, _ two: Drive, sourceLocation: SourceLocation = #_sourceLocation) async throws {
    let options = ["--file-mtime", "--no-links"]
    let left = try await one.python("tree.py", options + [one.mountpoint]).succeed()
    let right = try await two.python("tree.py", options + [two.mountpoint]).succeed()
    expectSame(left, right, "the two drives", sourceLocation: sourceLocation)
}
