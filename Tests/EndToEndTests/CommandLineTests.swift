import Foundation
import Glibc
import Testing

extension EndToEnd {
    /// The command line from the outside: what scripts rely on.
    @Suite("Command line", .timeLimit(.minutes(5)))
    struct CommandLineTests {
        @Test("mount says where the drive is and who keeps it; unmount ends mount and daemon")
        func mountAndUnmount() async throws {
            try await Workspace.use { space in
                let drive = try await space.drive()
                let mounted = try await drive.quire("mount", drive.mountpoint).require(0)
                #expect(mounted.output.contains(drive.mountpoint))
                #expect(mounted.output.contains("\(drive.home)/provider"))
                let daemon = try #require(drive.daemonProcessID)
                try await drive.sh("echo hello > hello.txt")
                try await drive.quire("unmount").require(0)
                #expect(FuseConnection.at(drive.mountpoint) == nil)
                try waitUntil("the daemon is gone", seconds: 10) { kill(daemon, 0) != 0 }
                #expect(try String(contentsOfFile: "\(drive.store)/hello.txt", encoding: .utf8) == "hello\n")
                try await drive.mount()
                #expect(try await drive.sh("cat hello.txt") == "hello\n")
            }
        }

        @Test("unmount says what is not yet uploaded")
        func unmountTellsPending() async throws {
            try await Workspace.use { space in
                let drive = try await space.drive(provider: "\(space.root)/shared")
                try await drive.mount()
                try await space.sh("mv shared away")
                try await drive.sh("echo x > waiting")
                let ended = try await drive.quire("unmount").require(0)
                #expect((ended.output + ended.errors).contains("1"), "says that something waits: \(ended)")
                #expect((ended.output + ended.errors).localizedCaseInsensitiveContains("upload"))
            }
        }

        @Test("SIGTERM and SIGINT unmount cleanly", arguments: [SIGTERM, SIGINT])
        func signals(signal: Int32) async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("echo x > f")
                let daemon = try #require(drive.daemonProcessID)
                kill(daemon, signal)
                try waitUntil("the daemon is gone", seconds: 15) { kill(daemon, 0) != 0 }
                #expect(FuseConnection.at(drive.mountpoint) == nil)
            }
        }

        @Test(
            "A daemon that ends while a program has a file open leaves in the store what was written so far",
            arguments: [true, false])
        func endsInUse(passthrough: Bool) async throws {
            try await Workspace.use { space in
                let drive = try await space.drive()
                try await drive.mount(options: passthrough ? [] : ["-o", "nopassthrough"])
                let daemon = try #require(drive.daemonProcessID)
                let program = """
                    import os, time
                    file = os.open("f", os.O_WRONLY | os.O_CREAT)
                    os.write(file, b"written\\n")
                    os.kill(\(daemon), 15)
                    while os.path.exists("/proc/\(daemon)"): time.sleep(0.02)
                    """
                try await drive.sh("/usr/bin/python3 -c '\(program)'")
                #expect(try String(contentsOfFile: "\(drive.store)/f", encoding: .utf8) == "written\n")
            }
        }

        @Test("status --json has every member the contract names, mounted and stopped")
        func statusOfDrive() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("mkdir d; echo x > d/f; echo y > g")
                try await drive.sync()
                let status = try await drive.json("status")
                #expect(try status("home").string == drive.home)
                #expect(try status("mountpoint").string == drive.mountpoint)
                #expect(try status("state").string == "mounted")
                #expect(try status("items").int == 3)
                for kind in ["upload", "download", "delete", "rename"] { #expect(try status("pending")(kind).int == 0) }
                #expect(try status("conflicts").int == 0)
                #expect(try status("errors").array.isEmpty)
                let provider = try #require(try status("providers").array.first)
                #expect(try provider("online").bool)
                #expect(try provider("url").string.hasPrefix("folder:/"))
                #expect(try provider("name").string.isEmpty == false)
                for member in ["device", "passthrough", "rescanning"] { #expect(status.has(member)) }
                try await drive.unmount()
                let stopped = try await drive.json("status")
                #expect(try stopped("state").string == "stopped")
                #expect(try stopped("items").int == 3)
            }
        }

        @Test("status PATH tells a document's state, by a path on the mount or one relative to the root")
        func statusOfPath() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("mkdir d; echo content > d/f")
                try await drive.sync()
                for path in ["d/f", "\(drive.mountpoint)/d/f"] {
                    let status = try await drive.json("status", path).only
                    #expect(try status("path").string == "d/f")
                    #expect(try status("kind").string == "file")
                    #expect(try status("size").int == 8)
                    #expect(try status("state").string == "current")
                    #expect(try status("materialized").int == 8)
                    #expect(try status("pinned").bool == false)
                    for member in ["id", "version", "provider", "container"] { #expect(status.has(member)) }
                }
                #expect(try await drive.sh("\"$QUIRE\" status d/f").contains("current"))
                #expect(await drive.quire("status", "no/such").status != 0)
                let id = try await drive.sh("getfattr --only-values -n user.quire.id d/f")
                #expect(try await drive.json("status", "d/f").only("id").string == id)
            }
        }

        @Test("A state changes with the document: dirty while it waits, current when it is at the provider")
        func states() async throws {
            try await Workspace.use { space in
                let drive = try await space.drive(provider: "\(space.root)/shared")
                try await drive.mount()
                try await drive.sh("echo x > f")
                try await drive.sync()
                try await space.sh("mv shared away")
                try await drive.sh("echo y >> f")
                #expect(["dirty", "uploading"].contains(try await drive.json("status", "f").only("state").string))
                #expect(try await drive.json("status")("pending")("upload").int == 1)
                try await space.sh("mv away shared")
                try await drive.sync()
                #expect(try await drive.json("status", "f").only("state").string == "current")
            }
        }

        @Test("find sees every file whose program has returned, by name, state and directory")
        func find() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("mkdir -p a/b; touch a/one.txt a/b/two.txt three.md; echo x > .x.swp")
                let find = { (arguments: [String]) in
                    try await drive.quire(["find"] + arguments).require(0).output.split(separator: "\n").sorted()
                }
                #expect(try await find(["*.txt"]) == ["a/b/two.txt", "a/one.txt"])
                #expect(try await find(["*.txt", "--onlyin", "a/b"]) == ["a/b/two.txt"])
                #expect(try await find(["*.txt", "--count"]) == ["2"])
                #expect(try await find(["--state", "local-only"]) == [".x.swp"])
                #expect(try await find(["name == \"*.md\""]) == ["three.md"])
                // Read your writes: each file is found by the query that starts after its program has ended.
                let found = try await drive.sh(
                    "for i in $(seq 20); do touch new$i; \"$QUIRE\" find new$i --count; rm new$i; \"$QUIRE\" find new$i --count; done"
                )
                #expect(found.split(separator: "\n") == Array(repeating: ["1", "0"], count: 20).flatMap { $0 })
                let lines = try await drive.quire("find", "*.md", "--json").require(0).output.split(separator: "\n")
                #expect(try JSON(String(lines.first ?? "")).only("path").string == "three.md")
                try await drive.sync()
                #expect(try await find(["state == current && name == \"*.txt\""]).count == 2)
                #expect(try await find(["*.nothing"]).isEmpty)
                #expect(try await find(["name == \"THREE*\"c || size == 2 && dirty == no"]) == [".x.swp", "three.md"])
                // What is known of a document is found without its content.
                try await drive.sh("echo content > large; \"$QUIRE\" sync; \"$QUIRE\" evict large")
                #expect(try await find(["InRange(size, 8, 1KB) && uploaded == true && dataless == true"]) == ["large"])
                let wrong = await drive.quire("find", "size > 1 && colour == red")
                #expect(wrong.status == 64 && wrong.errors.contains("at 13: expected an attribute (name, "))
            }
        }

        @Test("info shows all metadata, and tags set as an attribute")
        func info() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("echo x > f; setfattr -n user.quire.tags -v 'red,work' f; touch -d @1000000000 f")
                try await drive.sync()
                let text = try await drive.quire("info", "f").require(0).output
                for word in ["f", "current", "red", "work"] { #expect(text.contains(word), "\(word) in \(text)") }
                let info = try await drive.json("info", "f").only
                #expect(try info("state").string == "current")
                #expect(try info("tags").array.map { try $0.string }.sorted() == ["red", "work"])
                #expect(try await drive.sh("getfattr --only-values -n user.quire.tags f") == "red,work")
                #expect(await drive.quire("info", "missing").status != 0)
            }
        }

        @Test("manifest prints what sha256sum -c accepts, for here and for what is not here")
        func manifest() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh(
                    "mkdir d; echo x > d/f; echo y > 'a b'; printf z > $'new\\nline'; printf w > 'back\\slash'")
                try await drive.sync()
                try await drive.sh(
                    "\"$QUIRE\" manifest > ../manifest; sha256sum -c --quiet ../manifest; wc -l < ../manifest")
                try await drive.sh("cd d; \"$QUIRE\" manifest . | sha256sum -c --quiet")
                try await drive.quire("evict", "d/f").require(0)
                try await drive.sh("\"$QUIRE\" manifest | cmp - ../manifest")
                #expect(try await drive.sh("getfattr --only-values -n user.quire.state d/f") == "dataless")
                // What a full disk does not take is no success.
                for command in ["manifest", "find '*'", "find '*' --json", "status"] {
                    let text = "\"$QUIRE\" \(command) > /dev/full && echo taken || echo refused"
                    #expect(try await drive.sh("\(text) 2> ../words") == "refused\n", "\(command)")
                    #expect(try await drive.sh("\"$QUIRE\" \(command) 2>&1 > /dev/full || true").contains("not whole"))
                }
            }
        }

        @Test("check is silent about a sound drive and names what differs in one that was meddled with")
        func check() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("mkdir d; echo x > d/f; echo y > g")
                try await drive.sync()
                try await drive.quire("check").require(0)
                try await drive.quire("check", "--provider").require(0)
                try await drive.unmount()
                try await drive.quire("check").require(0)
                try await space.sh("echo meddled > one.home/provider/g")
                try await drive.mount()
                let outcome = try await drive.quire("check", "--provider").require(0, 1)
                // Unless the pull was faster: then there is nothing left to say.
                if outcome.status == 1 { #expect(outcome.output.contains("g")) }
            }
        }

        @Test("Without arguments, with unknown ones and without a daemon: usage, 64 and a word on what to do")
        func usage() async throws {
            try await Workspace.use { space in
                let drive = try await space.drive()
                #expect(try await drive.quire("--help").require(0).output.contains("mount"))
                for command in [
                    "mount", "unmount", "status", "sync", "find", "info", "manifest", "check", "download", "evict",
                ] {
                    let help = try await drive.quire("help", command).require(0).output
                    #expect(help.contains("USAGE"), "\(command)")
                }
                try await drive.quire("frobnicate").require(64)
                try await drive.quire("status", "--no-such-option").require(64)
                try await drive.quire("sync", "--timeout", "soon").require(64)
                let stopped = await drive.quire("sync")
                #expect(stopped.status == 69)
                #expect(stopped.errors.contains("quire mount"))
                try await drive.quire("unmount").require(0, 69)
                for shell in ["bash", "zsh", "fish"] {
                    #expect(!(try await drive.quire("--generate-completion-script", shell).require(0).output.isEmpty))
                }
            }
        }

        @Test("provider add, list and remove work with the daemon stopped and refuse what cannot be")
        func providers() async throws {
            try await Workspace.use { space in
                let drive = try await space.drive()
                try await drive.quire("provider", "add", "second", "folder:\(try space.directory("second"))").require(0)
                #expect(try await drive.quire("provider", "list").require(0).output.contains("second"))
                try await drive.quire("provider", "add", "second", "folder:/tmp/x").require(64)
                try await drive.quire("provider", "add", "bad", "folder:relative/path").require(64)
                try await drive.quire("provider", "add", "bad", "gopher://example.org/").require(64)
                try await drive.quire("provider", "remove", "second").require(0)
                #expect(await drive.quire("provider", "remove", "second").status != 0)
            }
        }
    }
}
