import Foundation
import Glibc
import Testing

extension EndToEnd {
    /// What the daemon costs while nobody uses the drive.
    @Suite("Idle", .timeLimit(.minutes(5)))
    struct IdleTests {
        /// No look at the provider falls into the time: its cost grows with the provider's documents. A debug build is measured
        /// where there is no other, with twice the memory.
        @Test("With 10,000 documents the idle daemon takes at most 60 MB and no CPU to speak of")
        func idle() async throws {
            try await Workspace.use { space in
                let drive = try await space.drive(
                    provider: "\(space.root)/shared", binary: Machine.releaseQuire ?? Machine.quire)
                try drive.configure("poll_seconds", "3600")
                try await drive.mount()
                try await drive.sh(
                    "for d in $(seq 100); do mkdir d$d; for f in $(seq 100); do echo $f > d$d/f$f; done; done",
                    limitSeconds: 120)
                try await drive.quire("sync", "--timeout", "120", limitSeconds: 150).require(0)
                let daemon = try #require(drive.daemonProcessID)
                // Parts of names are indexed, and memory is given back, when nothing else is to be done.
                try await eventually("all that follows a change is done", seconds: 90) {
                    try await processorSeconds(daemon, within: .seconds(1)) <= 0.01
                }
                let used = try await processorSeconds(daemon, within: .seconds(10))
                let resident = try residentMegabytes(daemon)
                print("idle daemon with 10,000 documents: \(resident) MB resident, \(used) s of CPU in 10 s")
                #expect(used <= 0.1)
                #expect(resident <= (Machine.releaseQuire == nil ? 120 : 60))
                #expect(try await drive.json("status")("items").int == 10_100)
            }
        }

        private func processorSeconds(_ process: pid_t, within time: Duration) async throws -> Double {
            let before = try processorSeconds(process)
            try await Task.sleep(for: time)
            return try processorSeconds(process) - before
        }

        private func processorSeconds(_ process: pid_t) throws -> Double {
            let line = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
            let fields = line.split(separator: ")").last?.split(separator: " ") ?? []
            guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else {
                throw Trouble("unreadable: \(line)")
            }
            return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
        }

        private func residentMegabytes(_ process: pid_t) throws -> Int {
            let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
            guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmRSS:") }),
                let kilobytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) })
            else { throw Trouble("no VmRSS in \(status)") }
            return kilobytes / 1024
        }
    }

    /// The drive of an ordinary user, mounted with fusermount3.
    @Suite(
        "Ordinary user", .timeLimit(.minutes(5)), .enabled(if: Machine.isRoot, "becomes another user, which needs root")
    )
    struct OrdinaryUserTests {
        @Test(
            "A user without rights mounts, works, syncs and unmounts",
            .enabled(if: Machine.has("fusermount3") && Machine.has("setpriv"), "needs fusermount3 and setpriv"))
        func ordinaryUser() async throws {
            try await Workspace.use { space in
                // The build may lie where only root can go.
                try await space.sh(
                    "chmod 755 .; mkdir user; \(Machine.copyPrograms); chown nobody user")
                let user = "\(space.root)/user"
                let script = """
                    export HOME=\(user) QUIRE_HOME=\(user)/home PATH=$PATH:\(space.root)
                    cd \(user); mkdir drive; quire mount \(user)/drive
                    cd drive; mkdir d; echo text > d/f; mv d e; ln -s e/f link; cat link; seq 10000 > big; sed -i s/9/nine/ big
                    stat -c '%U %a' e/f; getfattr --only-values -n user.quire.id e/f > /dev/null
                    ! touch /dev/full/x 2>/dev/null; quire sync; cmp big \(user)/home/provider/big; quire status --json
                    cd ..; quire unmount; test ! -e drive/big; cat home/drive/e/f; ls -ld home
                    """
                let outcome = await Command(
                    arguments: [
                        "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all",
                        "bash", "-euo", "pipefail", "-c", script,
                    ], directory: "/", limitSeconds: 90, abortingMountsAt: ["\(user)/drive"]
                ).run()
                if FuseConnection.at("\(user)/drive") != nil {
                    let drive = Drive(
                        name: "user", home: "\(user)/home", mountpoint: "\(user)/drive", binary: "\(space.root)/quire")
                    await drive.close()
                }
                try outcome.require(0)
                #expect(outcome.output.contains("nobody 644"))
                #expect(outcome.output.contains("drwx------"), "the home is the user's alone")
            }
        }

        @Test("Without access to /dev/fuse it says what to do")
        func forbiddenDevice() async throws {
            try await Workspace.use { space in
                try await space.sh(
                    "touch device; chmod 600 device; chmod 755 .; mkdir user; \(Machine.copyPrograms); chown nobody user"
                )
                let user = "\(space.root)/user"
                let outcome = await Command(
                    arguments: [
                        // Closed in a mount namespace of its own: others mount at the same time.
                        "unshare", "--mount", "sh", "-c", "mount --bind device /dev/fuse; cd /; exec \"$@\"", "sh",
                        "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "env",
                        "HOME=\(user)",
                        "QUIRE_HOME=\(user)/home", "sh", "-c", "mkdir \(user)/m; \(space.root)/quire mount \(user)/m",
                    ], directory: space.root, limitSeconds: 60
                ).run()
                #expect([64, 69, 77].contains(outcome.status))
                #expect(outcome.errors.contains("/dev/fuse"), "\(outcome.errors)")
            }
        }
    }
}
