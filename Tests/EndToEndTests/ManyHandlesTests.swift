import Foundation
import Testing

extension EndToEnd {
    /// Programs that open more than there is.
    @Suite("Many handles", .timeLimit(.minutes(5)))
    struct ManyHandlesTests {
        /// A drive whose daemon may have 1,024 descriptors.
        private func mounted(in space: Workspace, _ options: String = "") async throws -> Drive {
            let drive = try await space.drive()
            try await space.sh(
                "ulimit -n 1024; QUIRE_HOME='\(drive.home)' '\(drive.binary)' mount \(options) '\(drive.mountpoint)'")
            return drive
        }

        @Test("A thousand programs at once get along with fewer descriptors than that")
        func thousand() async throws {
            try await Workspace.use { space in
                let drive = try await mounted(in: space)
                let load = [Machine.stress, "clients", "--operations", "1", "--processes", "1000", drive.mountpoint]
                print(
                    try await Command(arguments: load, limitSeconds: 120, abortingMountsAt: [drive.mountpoint])
                        .succeed())
                #expect(try await drive.json("status", "--driver")("openFiles").int == 0)
            }
        }

        @Test(
            "A program that opens without end gets ENFILE; others list, look and save, and the daemon answers",
            arguments: [true, false])
        func greedy(passthrough: Bool) async throws {
            try await Workspace.use { space in
                let drive = try await mounted(in: space, passthrough ? "" : "-o nopassthrough")
                try await drive.sh(
                    "mkdir -p a/b; echo deep > a/b/f; mkdir many; for i in $(seq 700); do echo $i > many/f$i; done")
                // Reading and writing handles, kept until others have looked.
                let program = """
                    import collections, errno, os, time
                    told = collections.Counter()
                    held = []
                    for i in range(1, 701):
                        try:
                            held.append(os.open("many/f%d" % i, os.O_RDONLY if i % 2 else os.O_RDWR))
                        except OSError as error:
                            told[errno.errorcode[error.errno]] += 1
                    assert set(told) == {"ENFILE"}, told
                    print(len(held), os.pread(held[7], 10, 0), flush=True)
                    open("../held", "w").close()
                    while not os.path.exists("../go"):
                        time.sleep(0.02)
                    """
                async let greedy = drive.shell("ulimit -n 4096; exec /usr/bin/python3 -c '\(program)'").run()
                try await eventually("all is taken", seconds: 40) {
                    FileManager.default.fileExists(atPath: "\(space.root)/held")
                }
                do {
                    try await drive.sh(
                        "ls a/b; ls many | wc -l; stat a/b/f; mkdir new; mv new renamed; ln -s a link; rm many/f700")
                    let refused = await drive.shell("cat a/b/f").run()
                    #expect(refused.errors.contains("Too many open files in system"), "\(refused)")
                    #expect(try await drive.json("status")("state").string == "mounted")
                    let status = try await drive.json("status", "--driver")
                    #expect(try status("descriptors")("used").int < 1000)
                    #expect(try status("openFiles").int > 400)
                    #expect(try await drive.quire("find", "f*", "--count").require(0).output == "700\n")
                } catch {
                    try "".write(toFile: "\(space.root)/go", atomically: true, encoding: .utf8)
                    _ = await greedy
                    throw error
                }
                try "".write(toFile: "\(space.root)/go", atomically: true, encoding: .utf8)
                let ended = try await greedy.require(0)
                #expect(ended.output.hasSuffix("b'8\\n'\n"), "\(ended)")
                let after = try await drive.sh("cat a/b/f; echo after > many/f1; cat many/f1; rm -r many")
                #expect(after == "deep\nafter\n")
                try await drive.sync()
                try await drive.quire("check", "--provider").require(0)
                #expect(try await drive.json("status", "--driver")("openFiles").int == 0)
            }
        }
    }
}
