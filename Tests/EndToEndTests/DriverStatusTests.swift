import Foundation
import Testing

extension EndToEnd {
    /// What `quire status --driver` and `-o debug` tell of the requests that programs make.
    @Suite("Driver status", .timeLimit(.minutes(5)))
    struct DriverStatusTests {
        @Test("status --driver counts requests by kind with their times, and says what is cached and open")
        func counts() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh(
                    "mkdir d; for i in $(seq 50); do echo $i > d/f$i; done; cat d/*; ls -l no-such || true")
                try await drive.sh("exec 3< d/f1; \"$QUIRE\" status --driver --json > ../status")
                let status = try JSON(String(contentsOfFile: "\(space.root)/status", encoding: .utf8))
                #expect(try count(status, "CREATE", "atOnce") == 50)
                #expect(try count(status, "MKDIR", "atOnce") == 1)
                #expect(try count(status, "LOOKUP", "atOnce") >= 50)
                #expect(try count(status, "OPENDIR", "atOnce") <= 1, "the kernel opens directories by itself")
                let creates = try request(status, "CREATE")("atOnce")
                let (half, most, longest) = (try creates("p50").int, try creates("p99").int, try creates("longest").int)
                #expect(half > 0 && half <= most && most <= longest)
                #expect(try creates("total").int >= longest)
                #expect(try status("nodes").int >= 52)
                #expect(try status("openFiles").int == 1)
                #expect(try status("parked").int == 0)
                #expect(try status("descriptors")("used").int > 10)
                #expect(try status("protocolVersion").string.hasPrefix("7."))
                #expect(try status("passthrough").bool == !status.has("passthroughObstacle"))
                let table = try await drive.quire("status", "--driver").require(0).output
                for word in ["REQUEST", "P99", "CREATE", "Passthrough"] { #expect(table.contains(word)) }
            }
        }

        @Test("On a disk fsync is answered away from the threads that take requests, in memory at once")
        func synchronizing() async throws {
            for parent in ["/tmp", "/dev/shm"] {
                try await Workspace.use(in: parent) { space in
                    let drive = try await space.mounted()
                    try await drive.sh("echo x > f; sync f; \"$QUIRE\" status --driver --json > ../status")
                    let status = try JSON(String(contentsOfFile: "\(space.root)/status", encoding: .utf8))
                    let kind = try await drive.sh("stat -f -c %T ..")
                    let answered = kind.hasPrefix("tmpfs") ? "atOnce" : "waited"
                    #expect(try count(status, "FSYNC", answered) == 1, "\(parent)")
                }
            }
        }

        @Test(
            "Without passthrough the kernel collects small writes, unless told not to; in the store is what programs see",
            arguments: [true, false])
        func collecting(collects: Bool) async throws {
            try await Workspace.use { space in
                let drive = try await space.drive()
                try await drive.mount(options: ["-o", collects ? "nopassthrough" : "nopassthrough,nowriteback"])
                let status = try await drive.json("status", "--driver")
                #expect(try status("writebackCache").bool == collects)
                try await drive.sh(
                    """
                    /usr/bin/python3 -c 'f = open("f", "ab", 0)
                    for number in range(1000): f.write(b"line")'
                    """)
                let after = try await drive.json("status", "--driver")
                let writes = try count(after, "WRITE", "atOnce")
                #expect(collects ? writes < 20 : writes == 1000, "\(writes)")
                let see = "stat -c '%s %y' f; sha256sum < f"
                let (seen, kept) = (try await drive.sh(see), try await space.sh("cd '\(drive.store)'; \(see)"))
                #expect(seen == kept)
            }
        }

        @Test("Why there is no passthrough is said, and that a driver's status needs a daemon and takes no path")
        func obstacles() async throws {
            try await Workspace.use { space in
                let drive = try await space.drive()
                #expect(try await drive.quire("status", "--driver", "d").require(64).errors.contains("PATH"))
                #expect(try await drive.quire("status", "--driver").require(69).errors.contains("quire mount"))
                try await drive.mount(options: ["-o", "nopassthrough"])
                let status = try await drive.json("status", "--driver")
                #expect(try status("passthrough").bool == false)
                #expect(try status("passthroughObstacle").string.contains("nopassthrough"))
            }
        }

        @Test("With -o debug the log has a line for each request, with its path, its result and its time")
        func trace() async throws {
            try await Workspace.use { space in
                let drive = try await space.drive()
                try await drive.mount(options: ["-o", "debug"])
                try await drive.sh("mkdir d; echo x > d/f; cat no-such 2>&1 || true; mv d/f g; rm g")
                try await drive.unmount()
                let log = try String(contentsOfFile: "\(drive.home)/daemon.log", encoding: .utf8)
                for line in ["CREATE d/f  pid ", "RENAME2 d/f → g  pid ", "UNLINK g  pid "] {
                    let found = log.split(separator: "\n").first { $0.contains(line) }
                    #expect(found?.hasSuffix(" µs") == true, "\(line) in \(log.suffix(3000))")
                }
                let missing = log.split(separator: "\n").filter { $0.contains("LOOKUP no-such") }
                #expect(missing.count == 1)
            }
        }

        private func request(_ status: JSON, _ kind: String) throws -> JSON {
            for request in try status("requests").array where try request("kind").string == kind { return request }
            throw Trouble("no \(kind) in \(status)")
        }

        private func count(_ status: JSON, _ kind: String, _ way: String) throws -> Int {
            try request(status, kind)(way)("count").int
        }
    }
}
