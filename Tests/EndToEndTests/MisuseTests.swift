import Foundation
import Glibc
import Testing

extension EndToEnd {
    /// Programs that ask too much of a drive, or stop in the middle. Single calls with bad arguments are in the table of
    /// `ConformanceTests`.
    @Suite("Misuse", .timeLimit(.minutes(5)))
    struct MisuseTests {
        @Test("Programs killed in the middle of any call leave a drive that answers, and nothing open")
        func killedClients() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                let directory = "\(drive.mountpoint)/load"
                let daemon = try #require(drive.daemonProcessID)
                for round in 0..<25 {
                    let clients = (0..<3).map { number in
                        RunningCommand(drive.python("mixed_load.py", [directory, "\(round * 3 + number)"]))
                    }
                    let delay = UInt64.random(in: 40_000_000...250_000_000)
                    try await Task.sleep(nanoseconds: delay)
                    for client in clients { kill(client.processID, SIGKILL) }
                    for client in clients {
                        let outcome = client.waitForEnd()
                        #expect(outcome.status == 128 + SIGKILL, "\(outcome.errors)")
                    }
                    try await drive.sh("echo \(round) > after; cat after > /dev/null", limitSeconds: 20)
                }
                try await eventually("no file of the killed is open", seconds: 20) {
                    let held = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(daemon)/fd").filter {
                        let target = try? FileManager.default.destinationOfSymbolicLink(
                            atPath: "/proc/\(daemon)/fd/\($0)")
                        return target?.hasPrefix("\(drive.store)/load/") == true && !isPlace(daemon, $0)
                    }
                    return held.isEmpty
                }
                let shown = try await drive.python("tree.py", [drive.mountpoint]).succeed()
                try await drive.unmount()
                expectSame(shown, try await drive.python("tree.py", [drive.store]).succeed(), "mount and store")
            }
        }

        @Test("rm -rf of all there is, while others read, write and list it, removes it all")
        func removalWhileInUse() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                for round in 0..<3 {
                    try await drive.sh(
                        """
                        for d in a b c; do
                            mkdir -p $d/e/f
                            for i in $(seq 60); do echo $i > $d/$i; echo $i > $d/e/f/$i; done
                        done
                        """)
                    let reader = RunningCommand(
                        drive.shell("while :; do find . > /dev/null; cat */* */e/f/* > /dev/null; done 2> /dev/null"))
                    let writer = RunningCommand(
                        drive.python("mixed_load.py", ["\(drive.mountpoint)/a", "\(round)"]))
                    try await drive.sh("cat a/1 > /dev/null; rm -rf b c", limitSeconds: 60)
                    kill(writer.processID, SIGKILL)
                    _ = writer.waitForEnd()
                    try await drive.sh("rm -rf ./*", limitSeconds: 60)
                    reader.kill(abortingMounts: false)
                    _ = reader.waitForEnd()
                    #expect(try await drive.sh("ls -A") == "")
                }
                #expect(try FileManager.default.contentsOfDirectory(atPath: drive.store).isEmpty)
            }
        }

        @Test("Directories swapped in the store beside the daemon hang nothing, and are found where they are")
        func swappedDirectories() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("mkdir -p A/B; echo text > A/B/f; cat A/B/f > /dev/null")
                try await space.sh("cd '\(drive.store)'; mv A/B B; mv A B/A")
                // What the kernel keeps leads to B by A still. What is answered there is not the point, but that it is.
                try await drive.sh(
                    """
                    stat A/B/A > /dev/null 2>&1 || true
                    getfattr -n user.quire.state A/B A/B/f > /dev/null 2>&1 || true
                    """, limitSeconds: 20)
                let see = "cat B/f; stat -c %F B/A; ls A/B 2> /dev/null || echo none"
                #expect(try await drive.sh(see, limitSeconds: 20) == "text\ndirectory\nnone\n")
                try await drive.sh("echo more >> B/f; mkdir B/A/C; mv B/A .; rmdir A/C", limitSeconds: 20)
                let kept = try await space.sh("cd '\(drive.store)'; cat B/f; find . | sort")
                #expect(kept == "text\nmore\n.\n./A\n./B\n./B/f\n")
                try await drive.unmount()
            }
        }

        /// Whether a descriptor only names a place (O_PATH): one that the daemon keeps for a directory.
        private func isPlace(_ process: pid_t, _ descriptor: String) -> Bool {
            let text = try? String(contentsOfFile: "/proc/\(process)/fdinfo/\(descriptor)", encoding: .utf8)
            let flags = text?.firstMatch(of: #/flags:\s*([0-7]+)/#).flatMap { Int($0.1, radix: 8) }
            return (flags ?? 0) & 0o10000000 != 0
        }
    }
}
