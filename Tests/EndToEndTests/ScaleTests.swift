import Foundation
import Testing

extension EndToEnd {
    /// What `quire-bench --scale` measures with a million files, in small.
    @Suite("Scale", .timeLimit(.minutes(5)))
    struct ScaleTests {
        private static let count = 20_000

        @Test("20,000 entries of one directory, all pending, take little memory, and all work with 1,024 descriptors")
        func wideDirectory() async throws {
            try await Workspace.use { space in
                let drive = try await space.drive()
                try await drive.mount()
                try await drive.unmount()
                try drive.configure("settle_milliseconds", "3600000")
                try await space.sh(
                    "mkdir '\(drive.store)/wide'; cd '\(drive.store)/wide'; seq -f f%.0f \(Self.count) | xargs touch")
                try await space.sh(
                    "ulimit -n 1024; QUIRE_HOME='\(drive.home)' '\(drive.binary)' mount '\(drive.mountpoint)'")
                let daemon = try #require(drive.daemonProcessID)
                let before = try kilobytes("VmRSS", daemon)
                try await eventually("the rescan ends", seconds: 100) {
                    try await drive.json("status")("rescanning").bool == false
                }
                let pending = try await drive.json("status")("pending")("upload").int
                #expect(pending == Self.count + 1)
                #expect(try await drive.sh("find wide | wc -l; ls -l wide | wc -l") == "20001\n20001\n")
                // A kernel that is short of memory forgets some between the two.
                try await eventually("all are known at one time", seconds: 60) {
                    try await drive.sh("ls -l wide > /dev/null")
                    return try await drive.json("status", "--driver")("nodes").int > Self.count
                }
                // Half a kilobyte an entry is usual, beside the database of types and the index of names with some
                // megabytes; to load all that is pending takes three kilobytes an entry.
                let peak = try kilobytes("VmHWM", daemon)
                print("\(Self.count) pending entries: from \(before) to at most \(peak) kB")
                #expect(peak - before < Self.count + 15_000)
                try await drive.sh("seq -f wide/f%.0f 1000 | xargs -P 8 -n 50 cat; rm -r wide; ls")
                let left = try await drive.json("status")("pending")("upload").int
                #expect(left == 0)
            }
        }

        private func kilobytes(_ what: String, _ process: pid_t) throws -> Int {
            let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
            guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("\(what):") }),
                let kilobytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) })
            else { throw Trouble("no \(what) in \(status)") }
            return kilobytes
        }
    }
}
