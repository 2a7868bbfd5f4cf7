import Foundation
import Testing

extension EndToEnd {
    /// The index is damaged while the daemon runs.
    @Suite("A damaged index", .timeLimit(.minutes(5)))
    struct RebuildTests {
        @Test(
            "The mount serves on, running and new queries are right again, and nothing is deleted or doubled anywhere")
        func damagedWhileMounted() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh(
                    "mkdir d e; for n in $(seq 200); do echo $n > d/$n.note; seq $n > e/$n.txt; done; seq 5000 > far")
                try await drive.sync()
                try await drive.quire("evict", "far", "e/7.txt").require(0)
                try await drive.python("rebuild.py", [Machine.quire, drive.home, drive.mountpoint]).succeed()
                // Opened before the provider was asked again: the placeholder says what it stands for.
                #expect(try await drive.sh("seq 5000 | cmp - far; seq 7 | cmp - e/7.txt; echo same") == "same\n")
                try await drive.sync()
                try await expectProviderMatches(drive)
                #expect(try await drive.sh("ls d | wc -l; ls e | wc -l") == "201\n200\n")
                #expect(try await drive.quire("conflicts").require(0).output == "")
                try await drive.quire("check", "--provider").require(0)
                let log = try String(contentsOfFile: "\(drive.home)/daemon.log", encoding: .utf8)
                #expect(
                    log.split(separator: "\n").count { $0.contains("the index was damaged") } == 1,
                    "\(log.suffix(3000))")
                #expect(try await drive.json("status")("rescanning").bool == false)
                // As a daemon that starts later finds it.
                try await drive.unmount()
                try await drive.mount()
                try await drive.sh("echo more >> d/3.note; rm d/4.note")
                try await drive.sync()
                try await expectProviderMatches(drive)
            }
        }

        @Test("Where the store that a provider has to have cannot be told after it, all goes on once that is mended")
        func unknownStore() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("mkdir d; for n in $(seq 20); do echo $n > d/$n.note; done")
                try await drive.sync()
                try await space.sh("cp -r one.home/stores known; for f in one.home/stores/*; do echo > $f; done")
                try await drive.python("rebuild.py", [Machine.quire, drive.home, drive.mountpoint]).succeed()
                let outcome = try await drive.quire("sync", "--timeout", "3", limitSeconds: 20).require(75)
                #expect(outcome.errors.contains("is damaged"), "\(outcome.errors)")
                try await space.sh("cp known/* one.home/stores/")
                try await drive.sync()
                try await expectProviderMatches(drive)
            }
        }
    }
}
