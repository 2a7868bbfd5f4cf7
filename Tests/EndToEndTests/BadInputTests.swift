import Foundation
import Glibc
import Testing

extension EndToEnd {
    /// Wrong mountpoints, homes, configurations and indexes: a clear refusal, and nothing changed.
    @Suite("Bad input", .timeLimit(.minutes(5)))
    struct BadInputTests {
        @Test("A missing mountpoint is made where its parent exists, else refused")
        func missingMountpoint() async throws {
            try await Workspace.use { space in
                let drive = try await space.drive()
                rmdir(drive.mountpoint)
                try await drive.mount()
                try await drive.unmount()
                let outcome = await drive.quire("mount", "\(space.root)/no/parent")
                try expectRefusal(outcome, mentions: "\(space.root)/no/parent")
                #expect(!FileManager.default.fileExists(atPath: "\(space.root)/no"))
            }
        }

        @Test("A mountpoint that is not empty, not a directory, mounted already, or inside the store is refused")
        func wrongMountpoints() async throws {
            try await Workspace.use { space in
                let drive = try await space.drive()
                let full = try space.directory("full")
                try "keep".write(toFile: "\(full)/file", atomically: true, encoding: .utf8)
                try expectRefusal(await drive.quire("mount", full), mentions: "empty")
                try expectRefusal(await drive.quire("mount", "\(full)/file"), mentions: "directory")
                #expect(try String(contentsOfFile: "\(full)/file", encoding: .utf8) == "keep")
                try await drive.mount()
                try await drive.unmount()
                try await space.sh("mkdir one.home/drive/inside")
                try expectRefusal(await drive.quire("mount", "\(drive.store)/inside"), mentions: "store")
                try expectRefusal(await drive.quire("mount", drive.home), mentions: drive.home)
                let other = try await space.mounted("other")
                try expectRefusal(await drive.quire("mount", other.mountpoint), mentions: "mounted")
                #expect(try await other.sh("echo alive > f; cat f") == "alive\n")
            }
        }

        @Test("A second daemon on the same home is refused and names the first one's process id")
        func secondDaemon() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                let daemon = try #require(drive.daemonProcessID)
                let outcome = await drive.quire("mount", try space.directory("elsewhere"))
                try expectRefusal(outcome, mentions: "\(daemon)")
                #expect(FuseConnection.at("\(space.root)/elsewhere") == nil)
                #expect(try await drive.sh("echo still > f; cat f") == "still\n")
            }
        }

        @Test("A home made by a newer version is refused and left as it is")
        func newerHome() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.unmount()
                try drive.configure("format", "2")
                let before = try await space.sh("find one.home -type f | sort | xargs -d '\\n' sha256sum")
                try expectRefusal(await drive.quire("mount", drive.mountpoint), mentions: "newer")
                #expect(try await space.sh("find one.home -type f | sort | xargs -d '\\n' sha256sum") == before)
            }
        }

        @Test("A broken config.toml is refused with line and column")
        func brokenConfiguration() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.unmount()
                let path = "\(drive.home)/config.toml"
                let sound = try String(contentsOfFile: path, encoding: .utf8)
                try "format = 1\n\n[drive\ndevice_id = 3\n".write(toFile: path, atomically: true, encoding: .utf8)
                let outcome = await drive.quire("mount", drive.mountpoint)
                try expectRefusal(outcome, mentions: "config.toml")
                #expect(outcome.errors.contains("3"), "the line: \(outcome.errors)")
                #expect(outcome.errors.firstMatch(of: #/:\d+:\d+|line \d+.*column \d+/#) != nil, "\(outcome.errors)")
                let wrong = sound.replacing(#/poll_seconds = \d+/#, with: "poll_seconds = \"often\"")
                try wrong.write(toFile: path, atomically: true, encoding: .utf8)
                try expectRefusal(await drive.quire("mount", drive.mountpoint), mentions: "poll_seconds")
                try sound.write(toFile: path, atomically: true, encoding: .utf8)
                try await drive.mount()
            }
        }

        @Test("A corrupt index is set aside and rebuilt; nothing is lost")
        func corruptIndex() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("mkdir d; seq 1000 > d/f; echo x > g")
                try await drive.sync()
                try await drive.sh("echo edited > g")
                try await drive.unmount()
                try await space.sh("rm -f one.home/index.sqlite-*; head -c 5000 /dev/urandom > one.home/index.sqlite")
                let outcome = try await drive.quire("mount", drive.mountpoint).require(0)
                let log = try String(contentsOfFile: "\(drive.home)/daemon.log", encoding: .utf8)
                #expect((outcome.output + outcome.errors + log).contains("index"), "says that the index was rebuilt")
                let kept = try await space.sh("ls one.home | grep -c '^index.sqlite.*[0-9][0-9]'")
                #expect(kept == "1\n", "the corrupt one is kept with its date")
                try await drive.quire("sync", "--timeout", "30").require(0, 2)
                // Which version of an edited document is newer, only the index knew: both are there then.
                #expect(try await drive.sh("seq 1000 | cmp - d/f; cat g*").contains("edited\n"))
                #expect(try await drive.sh("ls -d d*") == "d\n", "what was the same on both sides is no conflict")
                try await expectProviderMatches(drive)
            }
        }

        @Test("A vanished index is rebuilt from store and provider without a conflict")
        func lostIndex() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("mkdir d; seq 1000 > d/f; echo x > g; seq 2000 > h")
                try await drive.sync()
                try await drive.quire("evict", "h").require(0)
                try await drive.unmount()
                try await space.sh("rm -f one.home/index.sqlite*")
                try await drive.mount()
                try await drive.sync()
                try await expectProviderMatches(drive)
                #expect(try await drive.sh("seq 2000 | cmp - h; ls") == "d\ng\nh\n")
            }
        }

        @Test(
            "A home on a file system without user attributes is refused with the reason",
            .enabled(if: Machine.isRoot, "needs root"))
        func noAttributes() async throws {
            try await Workspace.use { space in
                let bare = try await space.mountFilesystem("ramfs", at: "bare")
                let mountpoint = try space.directory("m")
                let drive = Drive(name: "bare", home: "\(bare)/home", mountpoint: mountpoint)
                let outcome = await drive.quire("mount", mountpoint)
                await drive.close()
                try expectRefusal(outcome, mentions: "attributes")
            }
        }

        @Test("A provider's folder that is missing from the start leaves the drive usable")
        func missingProvider() async throws {
            try await Workspace.use { space in
                let drive = try await space.drive(provider: "\(space.root)/shared")
                try await space.sh("rmdir shared 2>/dev/null || rm -r shared")
                try await drive.mount()
                try await drive.sh("echo x > f; cat f")
                try await drive.quire("sync", "--timeout", "3", limitSeconds: 20).require(75)
            }
        }

        @Test("Names of 255 bytes, names that are not UTF-8 and names with a newline work; 256 bytes are refused")
        func names() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh(
                    """
                    echo long > $(printf 'n%.0s' $(seq 255)); ! touch $(printf 'n%.0s' $(seq 256)) 2>/dev/null
                    echo bytes > $'caf\\xe9'; echo line > $'two\\nlines'; mkdir $'d\\xff\\xfe'; echo x > $'d\\xff\\xfe/f'
                    echo dots > ...; echo dash > -n; echo quote > "'\\""; find . -type f -exec cat {} + | sort
                    """)
                try await drive.quire("sync", "--timeout", "30").require(0, 2)
                #expect(try await drive.sh("cat $'caf\\xe9' $'two\\nlines' $'d\\xff\\xfe/f'") == "bytes\nline\nx\n")
                let status = try await drive.json("status")
                if try status("errors").array.isEmpty { try await expectProviderMatches(drive) }
            }
        }

        @Test("Directories of depth 100, and paths beyond 4,096 bytes by openat, work")
        func deepPaths() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh(
                    "d=.; for i in $(seq 100); do d=$d/level$i; done; mkdir -p $d; echo deep > $d/f; cat $d/f")
                let program = """
                    import os
                    directory = os.open(".", os.O_RDONLY)
                    for level in range(30):
                        os.mkdir("x" * 200, dir_fd=directory)
                        directory = os.open("x" * 200, os.O_RDONLY, dir_fd=directory)
                    file = os.open("f", os.O_RDWR | os.O_CREAT, dir_fd=directory)
                    os.write(file, b"below 6000 bytes"); os.fsync(file)
                    os.rename("f", "g", src_dir_fd=directory, dst_dir_fd=directory)
                    print(os.stat("g", dir_fd=directory).st_size, os.listdir(directory))
                    """
                #expect(try await drive.sh("/usr/bin/python3 -c '\(program)'") == "16 ['g']\n")
                try await drive.quire("sync", "--timeout", "45").require(0, 2)
                #expect(try await drive.sh("find . -name g | wc -c").count > 4)
                try await drive.sh("rm -rf level1 xxx*; ls | wc -l")
            }
        }

        @Test(
            "A full disk gives ENOSPC, loses nothing that was there, and the daemon lives on",
            .enabled(if: Machine.isRoot, "needs root"))
        func fullDisk() async throws {
            try await Workspace.use { space in
                let small = try await space.mountFilesystem("tmpfs", options: "size=16m", at: "small")
                let provider = try space.directory("shared")
                let drive = Drive(name: "small", home: "\(small)/home", mountpoint: try space.directory("m"))
                try await drive.quire("provider", "add", "shared", "folder:\(provider)", "--default").require(0)
                do {
                    try await drive.mount()
                    try await drive.sh("seq 1000 > kept")
                    try await drive.sync()
                    // While a program writes.
                    let filled = await drive.shell("head -c 40000000 /dev/zero > big").run()
                    #expect(filled.errors.contains("No space left"), "\(filled)")
                    // While the index takes events: every program's operation is still answered.
                    _ = await drive.shell("for i in $(seq 300); do echo $i > f$i; done").run()
                    #expect(try await drive.sh("seq 1000 | cmp - kept && echo whole") == "whole\n")
                    _ = await drive.quire("sync", "--timeout", "5", limitSeconds: 20)
                    #expect(try await drive.json("status")("state").string == "mounted")
                    try await drive.sh("rm big; find . -name 'f*' -empty -delete")
                    // An upload under way may hold the removed file's space for a moment.
                    try await eventually("the space is free again", seconds: 10) {
                        await drive.shell("echo after > after").run().status == 0
                    }
                    try await drive.sync()
                    try await expectProviderMatches(drive, at: provider)
                    // While a download lands.
                    try await space.sh("head -c 30000000 /dev/urandom > shared/huge")
                    try await drive.quire("sync", "--timeout", "20", limitSeconds: 40).require(0)
                    let read = await drive.shell("cat huge > /dev/null").run()
                    #expect(read.status != 0)
                    #expect(read.errors.contains("No space left"), "\(read.errors)")
                    #expect(try await drive.sh("cat after") == "after\n")
                    #expect(try await drive.json("status", "huge").only("state").string != "current")
                } catch {
                    await drive.close()
                    throw error
                }
                await drive.close()
            }
        }

        @Test("A dead mount that a crash left behind is replaced by the next quire mount")
        func deadMount() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("echo x > f; sync f")
                try drive.crash()
                #expect(await drive.shell("cat f").run().status != 0)
                try await drive.mount()
                #expect(try await drive.sh("cat f") == "x\n")
            }
        }

        @Test("Mass disappearance while the daemon was stopped deletes nothing at the provider until it is confirmed")
        func vanishedStore() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("for i in $(seq 40); do echo $i > f$i; done")
                try await drive.sync()
                try await drive.unmount()
                try await space.sh("rm one.home/drive/f*")
                try await drive.mount()
                try await drive.quire("sync", "--timeout", "20").require(2)
                #expect(try await space.sh("ls one.home/provider | grep -c '^f'") == "40\n")
                try await drive.quire("sync", "--confirm-deletes", "--timeout", "30").require(0)
                #expect(try await space.sh("ls one.home/provider | grep -c '^f' || true") == "0\n")
                let needless = try await drive.quire("sync", "--confirm-deletes", "--timeout", "30").require(0)
                #expect(needless.errors.contains("no deletions are held back"))
            }
        }

        @Test(
            "A store that vanished, or was emptied, while the daemon was stopped deletes nothing, however little was in it",
            arguments: ["one.home/drive", "one.home/drive/*"])
        func vanishedSmallStore(what: String) async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("mkdir dir && for i in a b dir/c; do echo $i > $i; done")
                try await drive.sync()
                try await drive.unmount()
                try await space.sh("rm -rf \(what)")
                try await drive.mount()
                try await drive.quire("sync", "--timeout", "20").require(2)
                #expect(try await space.sh("cd one.home/provider && ls a b dir/c") == "a\nb\ndir/c\n")
                try await drive.quire("sync", "--confirm-deletes", "--timeout", "30").require(0)
                #expect(try await space.sh("cd one.home/provider && ls") == "")
            }
        }

        @Test("A few documents that are all deleted through the mount are deleted")
        func emptiedDrive() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("mkdir dir && for i in a b dir/c; do echo $i > $i; done")
                try await drive.sync()
                #expect(try await space.sh("cd one.home/provider && ls a b dir/c") == "a\nb\ndir/c\n")
                try await drive.sh("rm -rf ./*")
                try await drive.sync()
                #expect(try await space.sh("cd one.home/provider && ls") == "")
            }
        }

        /// A refusal: exit 64 or 69, one clear message on standard error that names what is wrong.
        private func expectRefusal(
            _ outcome: Command.Outcome, mentions text: String, sourceLocation: SourceLocation = #_sourceLocation
        ) throws {
            #expect(!outcome.timedOut, sourceLocation: sourceLocation)
            #expect(
                [64, 69].contains(outcome.status), "exit \(outcome.status): \(outcome.errors)",
                sourceLocation: sourceLocation)
            #expect(
                outcome.errors.localizedCaseInsensitiveContains(text), "\"\(text)\" in: \(outcome.errors)",
                sourceLocation: sourceLocation)
        }
    }
}
