import Foundation
import Testing

extension EndToEnd {
    /// Two homes with one provider folder: two devices.
    @Suite("Two devices", .timeLimit(.minutes(5)))
    struct TwoDeviceTests {
        @Test("Documents arrive as placeholders of the right size, mode and time; opening one brings its content")
        func placeholders() async throws {
            try await withTwo { one, two in
                try await one.sh(
                    """
                    mkdir -p dir; seq 50000 > dir/big; chmod 640 dir/big; touch -d '2003-04-05 06:07:08.123456789' dir/big
                    : > empty; ln -s dir/big link; echo small > small
                    """)
                try await one.sync()
                try await two.sync()
                let look = "stat -c '%n %s %a %y %F' dir/big empty small"
                #expect(try await two.sh(look) == (try await one.sh(look)))
                #expect(try await two.takeNoRoom("dir/big"))
                #expect(try await two.sh("readlink link") == "dir/big\n")
                #expect(try await state(two, "dir/big") == "dataless")
                // Looking is not opening.
                try await two.sh("ls -lR; find . -size +1k; du -a; getfattr -d -m - dir/big; stat dir/big")
                #expect(try await state(two, "dir/big") == "dataless")
                #expect(try await two.sh("sha256sum < dir/big") == (try await one.sh("sha256sum < dir/big")))
                #expect(try await state(two, "dir/big") == "current")
                #expect(try await two.sh(look) == (try await one.sh(look)))
                try await expectSameDrives(one, two)
            }
        }

        @Test("Emptying a placeholder needs no provider; cutting or growing one brings its content first")
        func truncated() async throws {
            try await Workspace.use { space in
                let (first, second) = try await space.devicesOnNetwork()
                try await first.sh("for n in emptied overwritten cut grown; do seq 100 > $n; done")
                for drive in [first, second] { try await drive.sync() }
                try await space.sh("rm network")
                try await second.sh(": > emptied; echo new > overwritten")
                let refused = await second.shell("truncate -s 5 cut").run()
                #expect(refused.status != 0 && refused.errors.contains("Network is unreachable"), "\(refused)")
                try await space.sh("ln -s server network")
                try await second.sh("truncate -s 5 cut; truncate -s 300 grown")
                #expect(
                    try await second.sh("cat emptied overwritten cut; head -c 292 grown | tail -n 1; stat -c %s grown")
                        == "new\n1\n2\n3100\n300\n")
                for drive in [second, first] { try await drive.sync() }
                #expect(try await first.sh("sha256sum *") == (try await second.sh("sha256sum *")))
                #expect(await first.quire("conflicts").output.isEmpty)
            }
        }

        @Test("A placeholder's mark that was left on an empty file says nothing: what is written goes up and stays")
        func markLeftBehind() async throws {
            try await withTwo { one, two in
                try await one.sh("for n in written appended grown; do seq 10 > $n; done")
                try await one.sync()
                try await two.sync()
                // As a daemon that ends between the two steps of emptying a placeholder leaves it.
                try await two.unmount()
                try await Command(
                    arguments: ["bash", "-c", "truncate -s 0 written appended grown"], directory: two.store
                ).succeed()
                try await two.mount()
                try await two.sync()
                let mark = "setfattr -n user.quire.placeholder -v mark written appended grown"
                try await Command(arguments: ["bash", "-c", mark], directory: two.store).succeed()
                try await two.sh("echo new > written; echo new >> appended; truncate -s 4 grown")
                try await two.sync()
                let look = "cat written appended; od -An -tx1 grown"
                #expect(try await two.sh(look) == "new\nnew\n 00 00 00 00\n")
                for name in ["written", "appended", "grown"] { #expect(try await state(two, name) == "current") }
                try await one.sync()
                #expect(try await one.sh(look) == "new\nnew\n 00 00 00 00\n")
                try await expectSameDrives(one, two)
            }
        }

        @Test("quire download brings content, quire evict gives it back; edits are never evicted")
        func downloadAndEvict() async throws {
            try await withTwo { one, two in
                try await one.sh("mkdir d; for i in 1 2 3; do seq $((i * 1000)) > d/f$i; done")
                try await one.sync()
                try await two.sync()
                try await two.quire("download", "d").require(0)
                #expect(try await state(two, "d/f3") == "current")
                try await two.quire("evict", "d/f3").require(0)
                #expect(try await state(two, "d/f3") == "dataless")
                #expect(try await two.sh("stat -c %s d/f3") == "13893\n")
                #expect(try await two.takeNoRoom("d/f3"))
                try await two.sh("echo edit >> d/f1")
                #expect(await two.quire("evict", "d/f1").status != 0)
                #expect(try await two.sh("tail -1 d/f1") == "edit\n")
                try await two.quire("pin", "d/f2").require(0)
                #expect(await two.quire("evict", "d/f2").status != 0)
                try await two.quire("unpin", "d/f2").require(0)
                try await two.quire("evict", "d/f2").require(0)
                #expect(try await two.sh("seq 2000 | cmp - d/f2 && echo same") == "same\n")
            }
        }

        @Test("A hard link to a document that is not here brings its content: both names are one file, and each stays")
        func linkOfDataless() async throws {
            try await withTwo { one, two in
                try await one.sh("mkdir d; seq 50000 > d/a; seq 100 > d/c")
                try await one.sync()
                try await two.sync()
                #expect(try await state(two, "d/a") == "dataless")
                try await two.sh("ln d/a d/b; rm d/a; ln d/c c; echo more >> d/c")
                #expect(try await two.sh("seq 50000 | cmp - d/b && tail -1 c") == "more\n")
                try await two.sync()
                let refused = await two.quire("evict", "c")
                #expect(refused.status != 0)
                #expect(refused.errors.contains("hard link"))
                try await two.quire("evict", "d/b").require(0)
                try await one.sync()
                #expect(try await one.sh("ls d; seq 50000 | cmp - d/b && tail -1 c") == "b\nc\nmore\n")
                try await expectSameDrives(one, two)
            }
        }

        @Test(
            "A dataless document that is moved away keeps its content, whatever takes its name, and however it is put away"
        )
        func movedAwayDataless() async throws {
            try await withTwo { one, two in
                let names = ["report", "backup", "trashed", "swapped", "dir/deep"]
                try await one.sh("mkdir dir; for n in \(names.joined(separator: " ")); do seq 1000 > $n; done")
                try await one.sync()
                try await two.sync()
                for name in names { #expect(try await state(two, name) == "dataless") }
                try await two.sh(
                    """
                    mv report old; echo new > report
                    mv backup backup~; echo new > backup
                    mkdir -p .Trash-1000/files; mv trashed dir .Trash-1000/files/
                    echo new > fresh; python3 -c 'import ctypes; ctypes.CDLL(None).renameat2(-100, b"fresh", -100, b"swapped", 2)'
                    """)
                try await two.sync()
                let all = ["old", "backup~", ".Trash-1000/files/trashed", ".Trash-1000/files/dir/deep", "fresh"]
                for name in all { #expect(try await two.sh("seq 1000 | cmp - '\(name)' && echo same") == "same\n") }
                try await one.sync()
                #expect(
                    try await one.sh("ls; seq 1000 | cmp - old && seq 1000 | cmp - fresh && cat report backup swapped")
                        == "backup\nfresh\nold\nreport\nswapped\nnew\nnew\nnew\n")
            }
        }

        @Test("After downloads and evictions the drive shows the times that the store's directories have")
        func directoryTimes() async throws {
            try await withTwo { one, two in
                try await one.sh("mkdir d; seq 1000 > d/f; seq 10 > d/g")
                try await one.sync()
                try await two.sync()
                let times = "find . -type d -printf '%P %T@\\n' | sort"
                let store = Command(arguments: ["bash", "-c", times], directory: two.store)
                // Each look leaves the directory's attributes with the kernel.
                #expect(try await two.sh(times) == (try await store.succeed()))
                try await two.sh("cat d/f")
                #expect(try await two.sh(times) == (try await store.succeed()))
                try await two.quire("evict", "d/f").require(0)
                #expect(try await two.sh(times) == (try await store.succeed()))
            }
        }

        @Test("Reading a placeholder, or evicting a document, leaves the modification time of its directory as it was")
        func directoryModificationTime() async throws {
            try await withTwo { one, two in
                try await one.sh("mkdir d; seq 1000 > d/f")
                try await one.sync()
                try await two.sync()
                let time = "stat -c %y d"
                let before = try await two.sh("touch -d '2020-02-02 02:02:02.020202' d; \(time)")
                #expect(try await two.sh("wc -l < d/f; \(time)") == "1000\n\(before)")
                try await two.sync()
                try await two.quire("evict", "d/f").require(0)
                #expect(try await state(two, "d/f") == "dataless")
                #expect(try await two.sh("\(time); ls -i d | wc -l") == "\(before)1\n")
                #expect(try await two.sh("touch d/g; \(time)") != before)
            }
        }

        @Test("A placeholder can be renamed, copied, appended to, cut short and removed")
        func workOnPlaceholders() async throws {
            try await withTwo { one, two in
                try await one.sh("for i in 1 2 3 4 5 6; do seq 2000 > f$i; done")
                try await one.sync()
                try await two.sync()
                try await two.sh("mv f1 renamed; chmod 600 f2; rm f3; cp f4 copy; echo more >> f5; truncate -s 10 f6")
                #expect(try await state(two, "renamed") == "dataless")
                #expect(
                    try await two.sh("cat f6 | wc -c; tail -1 f5; cmp copy <(seq 2000) && echo same")
                        == "10\nmore\nsame\n")
                #expect(try await two.sh("head -2000 f5 | cmp - <(seq 2000) && echo same") == "same\n")
                try await two.sync()
                try await one.sync()
                try await expectSameDrives(one, two)
                #expect(try await one.sh("stat -c %a f2; ls | wc -l") == "600\n6\n")
            }
        }

        @Test("Renames, moves of directories, deletions and new versions reach the other device")
        func changesTravel() async throws {
            try await withTwo { one, two in
                try await one.sh("mkdir -p a/b/c x; for i in 1 2 3; do echo $i > a/b/c/f$i; echo $i > x/g$i; done")
                try await one.sync()
                try await two.sync()
                try await two.quire("download", ".").require(0)
                let id = try await two.sh("getfattr --only-values -n user.quire.id a/b/c/f1")
                try await one.sh(
                    "mv a/b/c x/c; mv x y; rm y/g1; echo new > y/g2; rm -r a; mkdir a; echo again > a/b; mv y/g3 'y/g 3'"
                )
                try await one.sync()
                try await two.sync()
                try await expectSameDrives(one, two)
                #expect(try await two.sh("getfattr --only-values -n user.quire.id y/c/f1") == id)
                #expect(try await two.sh("cat y/g2 a/b") == "new\nagain\n")
                try await two.sh("mv y/c .; rm -r y; chmod 755 c/f1; touch -d '2005-05-05' c/f2; ln -s c link")
                try await two.sync()
                try await one.sync()
                try await expectSameDrives(one, two)
            }
        }

        @Test("A kept version is restored, also where the document's content is not here; what was there is kept")
        func restore() async throws {
            try await withTwo { one, two in
                try await editBoth(one, two)
                // There has to be something to keep.
                try await two.sh("mv note.txt away.txt")
                try await two.quire("resolve", "note.txt", "--keep", "current").require(64)
                try await two.sh("mv away.txt note.txt")
                try await two.quire("resolve", "note.txt", "--keep", "current").require(0)
                try await two.sync()
                let kept = try await versions(two, "note.txt")
                #expect(kept.count == 1)
                try await two.quire("evict", "note.txt").require(0)
                try await two.quire("restore", "note.txt", try #require(kept.first)).require(0)
                #expect(try await two.sh("cat note.txt") == "from two\n")
                try await two.sync()
                try await one.sync()
                #expect(try await one.sh("cat note.txt") == "from two\n")
                // What it had replaced is to be had again.
                let replaced = try #require(try await versions(two, "note.txt").first { !kept.contains($0) })
                try await two.quire("restore", "note.txt", replaced).require(0)
                #expect(try await two.sh("cat note.txt") == "from one\n")
                let refused = await two.quire("restore", "note.txt", "none")
                #expect(refused.status == 66 && refused.errors.contains("note.txt has no version none"))
            }
        }

        /// The names that `quire versions` prints.
        private func versions(_ drive: Drive, _ path: String) async throws -> [String] {
            try await drive.quire("versions", path).require(0).output.split(separator: "\n").compactMap {
                $0.split(separator: " ").first.map(String.init)
            }
        }

        @Test("Both edits of one document survive on both devices, and both devices say so")
        func conflict() async throws {
            try await withTwo { one, two in
                try await editBoth(one, two)
                try await one.quire("sync", "--timeout", "30").require(0, 2)
                for drive in [one, two] {
                    #expect(try await drive.sh("cat note.txt") == "from one\n")
                    #expect(try await drive.sh("cat note\\ \\(conflicted\\ copy*from\\ second\\).txt") == "from two\n")
                    #expect(try await drive.json("status")("conflicts").int == 1)
                    #expect(await drive.quire("conflicts").output.contains("note (conflicted copy"))
                }
                try await expectSameDrives(one, two)
                try await one.sh("rm note\\ *")
                try await one.sync()
                try await two.sync()
                #expect(try await two.json("status")("conflicts").int == 0)
                try await expectSameDrives(one, two)
            }
        }

        @Test("A document created on both devices is two documents")
        func createdTwice() async throws {
            try await withTwo { one, two in
                try await apart(one, two) {
                    try await one.sh("echo from one > new.txt; mkdir same; echo 1 > same/one; echo equal > equal")
                    try await two.sh("echo from two > new.txt; mkdir same; echo 2 > same/two; echo equal > equal")
                } first: {
                    try await one.sync()
                }
                try await two.quire("sync", "--timeout", "30").require(0, 2)
                try await one.quire("sync", "--timeout", "30").require(0, 2)
                try await expectSameDrives(one, two)
                #expect(try await one.sh("cat new*.txt same/* | sort") == "1\n2\nfrom one\nfrom two\n")
                #expect(try await one.sh("ls equal*") == "equal\n", "equal content is no conflict")
            }
        }

        @Test("An edit beats a deletion, on both sides")
        func editBeatsDelete() async throws {
            try await withTwo { one, two in
                try await one.sh("echo a > a; echo b > b; mkdir d; echo c > d/c")
                try await one.sync()
                try await two.sync()
                try await two.sh("cat a b d/c")
                try await apart(one, two) {
                    try await one.sh("rm a; echo edited > b; rm -r d")
                    try await two.sh("echo edited > a; rm b; echo edited > d/c")
                } first: {
                    try await one.sync()
                }
                try await two.quire("sync", "--timeout", "30").require(0, 2)
                try await one.quire("sync", "--timeout", "30").require(0, 2)
                try await expectSameDrives(one, two)
                #expect(try await one.sh("cat a b d/c") == "edited\nedited\nedited\n")
            }
        }

        @Test("Changes arrive by themselves within the poll interval")
        func polling() async throws {
            try await withTwo(poll: 1) { one, two in
                try await one.sh("echo soon > soon.txt")
                try await eventually("soon.txt on the second device", seconds: 8) {
                    await two.shell("cat soon.txt").run().output == "soon\n"
                }
                try await one.sh("echo later > soon.txt")
                try await eventually("its new version", seconds: 8) {
                    await two.shell("cat soon.txt").run().output == "later\n"
                }
                try await two.sh("rm soon.txt")
                try await eventually("its removal", seconds: 12) {
                    await one.shell("test ! -e soon.txt").run().status == 0
                }
            }
        }

        @Test("A program that has a document open reads on while a new version arrives")
        func openWhileReplaced() async throws {
            try await withTwo { one, two in
                try await one.sh("echo old > doc")
                try await one.sync()
                try await two.sync()
                let reading = Task {
                    try await two.sh(
                        """
                        exec 3< doc; read -u 3 line; echo $line; touch ../reading
                        for i in $(seq 200); do [ -e ../replaced ] && break; sleep 0.05; done; cat doc; cat <&3
                        """)
                }
                let root = (one.home as NSString).deletingLastPathComponent
                try await eventually("the reader has begun", seconds: 10) {
                    FileManager.default.fileExists(atPath: "\(root)/reading")
                }
                try await one.sh("echo new > doc")
                try await one.sync()
                try await two.sync()
                try Data().write(to: URL(fileURLWithPath: "\(root)/replaced"))
                #expect(try await reading.value == "old\nnew\n")
            }
        }

        @Test("A device whose daemon was stopped catches up, in both directions")
        func stoppedDevice() async throws {
            try await withTwo { one, two in
                try await one.sh("mkdir d; echo 1 > d/one; echo 2 > two; echo 3 > three")
                try await one.sync()
                try await two.sync()
                try await two.quire("download", ".").require(0)
                try await two.unmount()
                // The store may be edited by anything while no daemon runs.
                try await Command(
                    arguments: ["sh", "-ec", "echo offline > new; echo edited > d/one; rm two; mv three drei"],
                    directory: two.store
                ).succeed()
                try await one.sh("echo fresh > fresh; mv d e")
                try await one.sync()
                try await two.mount()
                try await two.sync()
                try await one.sync()
                try await expectSameDrives(one, two)
                #expect(
                    try await one.sh("cat new e/one drei fresh; ls")
                        == "offline\nedited\n3\nfresh\ndrei\ne\nfresh\nnew\n")
            }
        }

        // Helpers

        private func withTwo(poll: Int = 3600, _ body: (Drive, Drive) async throws -> Void) async throws {
            try await Workspace.use { space in
                // The second device's way to the provider is a link, so that it can be cut off alone.
                try await space.sh("mkdir -p server/shared; ln -s server network")
                let drives = [
                    try await space.drive("first", provider: "\(space.root)/server/shared"),
                    try await space.drive("second", provider: "\(space.root)/network/shared"),
                ]
                for drive in drives {
                    try drive.configure("device_name", "\"\(drive.name)\"")
                    try drive.configure("poll_seconds", "\(poll)")
                    try await drive.mount()
                }
                try await body(drives[0], drives[1])
            }
        }

        /// Lets both devices edit while the second cannot reach the provider; the first syncs meanwhile.
        private func apart(
            _ one: Drive, _ two: Drive, _ edits: () async throws -> Void, first: () async throws -> Void
        ) async throws {
            let link = (two.home as NSString).deletingLastPathComponent + "/network"
            try FileManager.default.removeItem(atPath: link)
            try await edits()
            try await first()
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "server")
        }

        /// Has both devices edit `note.txt` at the same time: "from one" is first at the provider, and the second device knows
        /// of the conflict.
        private func editBoth(_ one: Drive, _ two: Drive) async throws {
            try await one.sh("echo base > note.txt")
            try await one.sync()
            try await two.sync()
            try await two.sh("cat note.txt")
            try await apart(one, two) {
                try await one.sh("echo from one > note.txt")
                try await two.sh("echo from two > note.txt")
            } first: {
                try await one.sync()
            }
            try await two.quire("sync", "--timeout", "30").require(0, 2)
        }

        private func state(_ drive: Drive, _ path: String) async throws -> String {
            try await drive.sh("getfattr --only-values -n user.quire.state '\(path)'")
        }
    }
}
