import Foundation
import Testing

extension EndToEnd {
    /// Large documents that come as they are read.
    @Suite("Content on demand", .timeLimit(.minutes(5)))
    struct ArrivingTests {
        /// Two devices of one provider; on the second `big`, of 40 MiB and some, is dataless.
        private func withBig(
            options: [String] = [], _ body: (Workspace, Drive, _ original: String) async throws -> Void
        ) async throws {
            try await Workspace.use { space in
                try await space.sh("mkdir -p server/shared; ln -s server network")
                let one = try await space.drive("one", provider: "\(space.root)/server/shared")
                let two = try await space.drive("two", provider: "\(space.root)/network/shared")
                for drive in [one, two] {
                    try drive.configure("poll_seconds", "3600")
                    try await drive.mount(options: options)
                }
                try await one.sh("seq 5700000 > big; touch -d '2003-04-05 06:07:08.123456789' big")
                try await one.sync()
                try await two.sync()
                #expect(try await state(two) == "dataless")
                try await body(space, two, "\(one.store)/big")
            }
        }

        private func state(_ drive: Drive) async throws -> String {
            try await drive.sh("getfattr --only-values -n user.quire.state big")
        }

        private func materialized(_ drive: Drive) async throws -> Int {
            try await drive.json("status", "big").only("materialized").int
        }

        private static let block = 4 << 20

        @Test("head and tail bring a block each, not the file; it is partial then, and says how much is here")
        func headAndTail() async throws {
            try await withBig { _, drive, original in
                let look = "stat -c '%n %s %a %y %F' big"
                let before = try await drive.sh(look)
                #expect(
                    try await drive.sh("head -c 100 big | md5sum")
                        == (try await drive.sh("head -c 100 '\(original)' | md5sum")))
                // The rest of the block comes after head has what it wants.
                try await eventually("a block is here", seconds: 20) {
                    try await drive.json("status", "big").only("materialized").int == Self.block
                }
                try await eventually("no more is coming", seconds: 20) { try await state(drive) == "partial" }
                #expect(try await drive.sh("tail -c 100 big") == (try await drive.sh("tail -c 100 '\(original)'")))
                #expect(try await materialized(drive) <= 3 * Self.block)
                #expect(try await drive.sh(look) == before)
                try await drive.quire("evict", "big").require(0)
                #expect(try await materialized(drive) == 0)
                #expect(try await state(drive) == "dataless")
                // Nobody has it open: what is not here takes no room.
                #expect(try await drive.takeNoRoom("big"))
            }
        }

        @Test("Read to its end it is the document, byte for byte, and here as a whole", arguments: [true, false])
        func whole(passthrough: Bool) async throws {
            try await withBig(options: passthrough ? [] : ["-o", "nopassthrough"]) { space, drive, original in
                let look = "stat -c '%n %s %a %y %F %i' big"
                let before = try await drive.sh(look)
                #expect(try await drive.sh("cmp big '\(original)' && echo same") == "same\n")
                try await untilCurrent(drive)
                #expect(try await drive.sh(look) == before)
                #expect(try await drive.sh("sha256sum < big") == (try await drive.sh("sha256sum < '\(original)'")))
                try await space.sh("rm network")
                #expect(try await drive.sh("cmp big '\(original)' && echo same") == "same\n")
                try await space.sh("ln -s server network")
                #expect(try await drive.json("status")("pending")("upload").int == 0)
            }
        }

        private func untilCurrent(_ drive: Drive) async throws {
            let deadline = ContinuousClock.now + .seconds(30)
            while try await state(drive) != "current" {
                guard ContinuousClock.now < deadline else {
                    throw Trouble(await drive.quire("status", "big").output)
                }
                try await Task.sleep(for: .milliseconds(50))
            }
        }

        @Test(
            "Programs that seek, map, look for holes or let the kernel copy see the document",
            arguments: ["scattered", "holes", "mapped", "copied"], [true, false])
        func ways(mode: String, passthrough: Bool) async throws {
            try await withBig(options: passthrough ? [] : ["-o", "nopassthrough"]) { _, drive, original in
                try await drive.python("arriving.py", [mode, "\(drive.mountpoint)/big", original]).succeed()
            }
        }

        @Test("cp, tar and dd take none of it for a hole")
        func copies() async throws {
            try await withBig { _, drive, original in
                for copy in [
                    "cp --sparse=auto big ../copy", "tar -S -cf - big | tar -xOf - > ../copy",
                    "dd if=big of=../copy bs=1M conv=sparse",
                ] {
                    try await drive.sh("\(copy) 2>&1; cmp ../copy '\(original)'; rm ../copy")
                    try await drive.quire("evict", "big").require(0)
                }
            }
        }

        @Test("A handle reads on when the document has come as a whole, is appended to, and is emptied")
        func held() async throws {
            try await withBig { _, drive, original in
                let program = """
                    coproc READER { exec /usr/bin/python3 '\(Machine.programs)/arriving.py' held big; }
                    out() { read -r line <&"${READER[0]}"; echo "$line"; }
                    go() { echo >&"${READER[1]}"; }
                    out; cmp big '\(original)'; go
                    out; out; echo more >> big; go
                    out; out; : > big; go
                    out; wait $READER_PID
                    """
                let lines = try await drive.sh(program).split(separator: "\n")
                let size = try await drive.sh("stat -c %s '\(original)'").trimmingCharacters(
                    in: .whitespacesAndNewlines)
                #expect(
                    lines == [
                        "open", "b'998\\n5699999\\n5700000\\n' \(size)", "appended", "b'more\\n'", "emptied", "0 b''",
                    ])
            }
        }

        @Test("Emptied while it is only here in part, a document is empty for its readers, too")
        func emptied() async throws {
            try await withBig { _, drive, _ in
                let program = """
                    exec 5< big; head -c 10 <&5 > /dev/null
                    : > big; test ! -s big; echo new > big
                    exec 6< big; cat <&6
                    """
                #expect(try await drive.sh(program) == "new\n")
                try await drive.sync()
                #expect(try await state(drive) == "current")
            }
        }

        @Test("After a crash of the daemon what had come is still here, and the rest comes")
        func crash() async throws {
            try await withBig { _, drive, original in
                try await drive.sh("head -c 10 big > /dev/null; tail -c 10 big > /dev/null")
                let here = try await materialized(drive)
                #expect(here > 0)
                let maps = "\(drive.home)/partial"
                try await drive.sh("until ls '\(maps)' | grep -q map; do sleep 0.05; done", limitSeconds: 20)
                try drive.crash()
                await drive.close()
                try await drive.mount()
                #expect(try await materialized(drive) > 0)
                #expect(try await drive.sh("cmp big '\(original)' && echo same") == "same\n")
            }
        }

        @Test(
            "Without its provider a document that is not here fails to open, in words; what is here of it can be read")
        func offline() async throws {
            try await withBig { space, drive, _ in
                try await space.sh("rm network")
                let refused = await drive.shell("head -c 10 big").run()
                #expect(refused.status != 0 && refused.errors.contains("Network is unreachable"), "\(refused.errors)")
                try await space.sh("ln -s server network")
                try await drive.sync()
                try await drive.sh("head -c 10 big")
                try await space.sh("rm network")
                #expect(try await drive.sh("head -c 10 big") == "1\n2\n3\n4\n5\n")
                let further = await drive.shell("tail -c 10 big").run()
                #expect(further.status != 0 && further.errors.contains("unreachable"), "\(further.errors)")
                try await space.sh("ln -s server network")
            }
        }

        @Test("Touched while it is read, a document is read on when its time is at the provider")
        func touched() async throws {
            try await withBig { _, drive, original in
                // Without opening it for writing, which brings all of it.
                let program = """
                    exec 5< big; dd bs=10 count=1 <&5 2>&1 > /dev/null
                    touch -h -d 2010-01-01 big
                    until [ $(stat -c %Y ../server/shared/big) = $(stat -c %Y big) ]; do sleep 0.05; done
                    cmp <(cat <&5) <(tail -c +11 '\(original)') && echo same
                    """
                let found = try await drive.sh(program)
                #expect(found.hasSuffix("\nsame\n"), "\(found)")
                try await untilCurrent(drive)
                #expect(try await drive.sh("stat -c %Y big; cmp big '\(original)'") == "1262304000\n")
            }
        }

        @Test("Replaced at the provider while it is read, no byte of one version is in the other")
        func replaced() async throws {
            try await withBig { _, drive, _ in
                let program = """
                    exec 5< big; head -c 10 <&5 > /dev/null
                    seq -f 'x%.0f' 5000000 > ../new; cp ../new ../server/shared/.new; mv ../server/shared/.new ../server/shared/big
                    tail -c 10 <&5 2>&1 && exit 1
                    cmp big ../new && echo new
                    """
                let found = try await drive.sh(program)
                #expect(found.contains("Stale file handle") && found.hasSuffix("new\n"), "\(found)")
            }
        }
    }
}
