import Foundation
import Testing

extension EndToEnd {
    /// Pauses, rates, and what is told of transfers.
    @Suite("Traffic", .timeLimit(.minutes(5)))
    struct TrafficTests {
        @Test("A pause outlives the daemon, says so, and ends with quire resume")
        func pause() async throws {
            try await Workspace.use { space in
                let provider = try space.directory("provider")
                try await space.sh("echo content > provider/theirs")
                let drive = try await space.mounted(provider: provider)
                try await drive.sync()
                #expect(try await drive.quire("pause").require(0).output == "paused until `quire resume`\n")
                try await drive.sh("echo mine > mine")
                let refused = await drive.quire("sync", "--timeout", "20")
                #expect(refused.status == 75 && refused.errors.contains("paused"), "\(refused)")
                try await drive.unmount()
                #expect(await drive.quire("status").output.contains("paused until `quire resume`"))
                try await drive.mount()
                #expect(await drive.quire("status").output.contains("mine: the drive is paused"))
                #expect(try await drive.json("status")("waiting").array[0]("reason").string == "paused")
                // What a program opens comes all the same.
                #expect(try await drive.sh("cat theirs") == "content\n")
                #expect(!FileManager.default.fileExists(atPath: "\(provider)/mine"))
                try await drive.quire("resume").require(0)
                try await drive.sync()
                #expect(FileManager.default.fileExists(atPath: "\(provider)/mine"))
                try await drive.quire("pause", "--for", "1s").require(0)
                try await drive.sh("echo more > more")
                try await eventually("the pause is over", seconds: 20) {
                    FileManager.default.fileExists(atPath: "\(provider)/more")
                }
                #expect(await drive.quire("pause", "--for", "soon").status == 64)
            }
        }

        @Test("Uploads and downloads go no faster than they may, and follow a new limit at once")
        func limits() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sync()
                try await drive.quire("limit", "--up", "1MB/s", "--down", "1 MB/s").require(0)
                #expect(await drive.quire("limit").output == "up    1 MB/s\ndown  1 MB/s\n")
                let begin = Date()
                try await drive.sh("for i in 1 2 3; do head -c 1000000 /dev/urandom > f$i; done")
                let synced = try await drive.quire("sync", "--json", "--timeout", "45").require(0)
                #expect(Date().timeIntervalSince(begin) >= 2)
                let lines = synced.output.split(separator: "\n")
                #expect(lines.contains { $0.contains("\"bytesTotal\":3000000") }, "\(synced.output)")
                #expect(lines.last?.contains("\"end\":\"clean\"") == true, "\(synced.output)")
                try await drive.quire("evict", ".").require(0)
                let fetching = Date()
                try await drive.sh("cat f1 f2 f3 > /dev/null")
                #expect(Date().timeIntervalSince(fetching) >= 2)
                // Slow enough to last for minutes; let go, it is over at once.
                try await drive.quire("limit", "--up", "20kB/s").require(0)
                try await drive.sh("head -c 8000000 /dev/urandom > slow")
                try await eventually("it is on its way", seconds: 20) {
                    try await drive.sh("getfattr --only-values -n user.quire.state slow") == "uploading"
                }
                try await drive.quire("limit", "--up", "none").require(0)
                let again = Date()
                try await drive.sync()
                #expect(Date().timeIntervalSince(again) < 30)
                #expect(await drive.quire("limit", "--json").output == "{\"down\":1000000}\n")
                #expect(await drive.quire("limit", "--up", "3").status == 64)
            }
        }

        @Test("quire status says what each waiting upload waits for")
        func waiting() async throws {
            try await Workspace.use { space in
                let provider = try space.directory("provider")
                let drive = try await space.mounted(provider: provider)
                try await drive.sync()
                try await drive.sh(
                    "exec 3> open; echo x >&3; sleep 1; \"$QUIRE\" status > ../status; exec 3>&-", limitSeconds: 20)
                #expect(try await space.sh("cat status").contains("open: a program has it open"))
                try await drive.sync()
                try await space.sh("mv provider away")
                try await drive.sh("echo text > later")
                try await eventually("it is told", seconds: 40) {
                    await drive.quire("status").output.contains("later: the provider is offline (")
                }
                let refused = await drive.quire("sync", "--timeout", "20")
                #expect(refused.status == 75)
                try await space.sh("mv away provider")
                try await drive.sync()
                #expect(await !drive.quire("status").output.contains("Waiting"))
            }
        }
    }
}
