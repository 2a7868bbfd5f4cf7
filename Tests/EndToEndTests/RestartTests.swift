import Foundation
import Glibc
import Testing

extension EndToEnd {
    /// `quire mount` after, beside and during another daemon of the same home.
    @Suite("Restart", .timeLimit(.minutes(5)))
    struct RestartTests {
        /// With passthrough an open handle outlives its daemon: the kernel needs none for it. What is written through it is
        /// in the store and found by the next rescan.
        @Test(
            "Over a dead mount in which programs have files open the drive is mounted again, and nothing they write is lost"
        )
        func openFiles() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("mkdir d; echo kept > d/f; sync d/f")
                // A working directory and a descriptor in the mount that dies; told to go on by a file outside.
                let holder = drive.shell(
                    """
                    cd d; exec 3<> f; touch ../../ready; until [ -e '\(space.root)/go' ]; do sleep 0.05; done
                    ls 2>&1 || true; cat < f 2>&1 || true; echo old >&3 && echo written || echo refused
                    """)
                async let held = holder.run()
                try await eventually("the file is open", seconds: 20) {
                    FileManager.default.fileExists(atPath: "\(space.root)/ready")
                }
                try drive.crash()
                try await drive.mount()
                #expect(try await drive.sh("cat d/f; echo new > d/g; cat d/g") == "kept\nnew\n")
                try await space.sh("touch go")
                let ended = await held
                #expect(!ended.timedOut)
                #expect((ended.output + ended.errors).contains("not connected"), "\(ended)")
                try await drive.unmount()
                try await drive.mount()
                let text = ended.output.contains("written") ? "old\n\n" : "kept\n"
                #expect(try await drive.sh("cat d/f") == text)
                try await drive.sync()
                try await drive.quire("check", "--provider").require(0)
                try await expectProviderMatches(drive)
            }
        }

        @Test(
            "A drive whose provider hangs tells who resets that, is unmounted all the same, and mounted again as ever",
            .enabled(if: Machine.isRoot, "binds a directory of one mount over another"))
        func hangingProvider() async throws {
            try await Workspace.use { space in
                // Its folder lies on a mount whose daemon is stopped: calls there do not come back.
                let share = try await space.mounted("share")
                try await share.sh("mkdir shared")
                let drive = try await space.drive("one", provider: "\(space.root)/bound")
                // The store that was added is on it: a folder on a drive is refused.
                try await space.sh("cp -r bound/.quire share/shared/; mount --bind share/shared bound")
                defer { umount2("\(space.root)/bound", CInt(MNT_DETACH)) }
                try await drive.mount()
                try await drive.sh("echo first > doc")
                try await drive.sync()
                let daemon = try #require(share.daemonProcessID)
                kill(daemon, SIGSTOP)
                defer { kill(daemon, SIGCONT) }
                try await drive.sh("echo second > doc; sync doc")
                async let syncing = drive.quire("sync")
                try await eventually("the engine is at it", seconds: 30) {
                    // Pictures are looked for at the provider, too, and sooner.
                    guard let number = drive.daemonProcessID,
                        try await drive.sh("getfattr --only-values -n user.quire.state doc") == "uploading"
                    else { return false }
                    let tasks = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(number)/task")
                    return tasks.contains { task in
                        let wait = try? String(contentsOfFile: "/proc/\(number)/task/\(task)/wchan", encoding: .utf8)
                        return wait?.contains("request_wait_answer") == true
                    }
                }
                let reset = await drive.quire("provider", "reset", "shared", "--confirm", limitSeconds: 40)
                #expect(reset.status == 75 && reset.errors.contains("quire unmount"), "\(reset)")
                try await drive.unmount()
                #expect(await syncing.status != 0)
                try await drive.quire("provider", "reset", "shared").require(64)
                try await drive.mount()
                #expect(try await drive.sh("cat doc") == "second\n")
                kill(daemon, SIGCONT)
                try await drive.sync()
                #expect(try await share.sh("cat shared/doc") == "second\n")
            }
        }

        @Test(
            "What is still written through a handle of a dead mount is neither evicted nor replaced from elsewhere meanwhile",
            .enabled(if: Machine.isRoot, "without passthrough such handles end with their daemon"))
        func writtenBehindTheDaemon() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("echo first > f; sync f")
                try await drive.sync()
                let holder = drive.shell(
                    """
                    exec 3>> f; touch ../ready; until [ -e '\(space.root)/go' ]; do sleep 0.05; done
                    echo second >&3 && echo written
                    """)
                async let held = holder.run()
                try await eventually("the file is open", seconds: 20) {
                    FileManager.default.fileExists(atPath: "\(space.root)/ready")
                }
                try drive.crash()
                try await drive.mount()
                let evicted = await drive.quire("evict", "f")
                try await space.sh("echo elsewhere > one.home/provider/f")
                _ = await drive.quire("sync", "--timeout", "3")
                try await space.sh("touch go")
                let ended = await held
                if ended.output.contains("written") {
                    #expect(evicted.status != 0, "\(evicted)")
                    try await drive.unmount()
                    try await drive.mount()
                    _ = await drive.quire("sync", "--timeout", "30")
                    // Two edits of one document: both are there.
                    #expect(try await drive.sh("cat f* | sort") == "elsewhere\nfirst\nsecond\n")
                    try await drive.quire("check").require(0)
                }
            }
        }

        @Test("Several at once make one daemon; all of them end well, and say where the drive is")
        func atOnce() async throws {
            try await Workspace.use { space in
                let drive = try await space.drive()
                let outcomes = await withTaskGroup(of: Command.Outcome.self) { group in
                    for _ in 0..<5 { group.addTask { await drive.quire("mount", drive.mountpoint) } }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                for outcome in outcomes {
                    try outcome.require(0)
                    #expect(outcome.output.contains("Your drive is at \(drive.mountpoint)"))
                }
                #expect(outcomes.filter { $0.output.contains("already") }.count == 4)
                try await drive.sh("echo x > f")
                try await drive.unmount()
                #expect(FuseConnection.at(drive.mountpoint) == nil, "there is no second mount below")
            }
        }

        @Test("A drive that is mounted there already is left as it is, with exit code 0 and its process id")
        func already() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                let daemon = try #require(drive.daemonProcessID)
                let again = try await drive.quire("mount", drive.mountpoint + "/").require(0)
                #expect(again.output == "Your drive is at \(drive.mountpoint) already (process id \(daemon))\n")
                #expect(drive.daemonProcessID == daemon)
                // In the foreground there would be nothing to do, and nobody to wait for.
                let foreground = try await drive.quire("mount", "-f", drive.mountpoint).require(69)
                #expect(foreground.errors.contains("\(daemon)"))
            }
        }

        @Test("While the old daemon is ending a new one waits for its turn", arguments: ["unmount", "TERM", "umount"])
        func ending(way: String) async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                for round in 1...5 {
                    let before = try #require(drive.daemonProcessID)
                    try await drive.sh("for i in $(seq 200); do echo \(round) > f$i; done")
                    switch way {
                    case "unmount":
                        async let ended = drive.quire("unmount")
                        // Beside it, at a moment that differs from round to round.
                        try await Task.sleep(for: .milliseconds(round * 5))
                        try await drive.quire("mount", drive.mountpoint).require(0)
                        _ = await ended
                        // It may have come before the end began: then there is nothing to wait for.
                        try await drive.quire("mount", drive.mountpoint).require(0)
                    case "TERM":
                        kill(before, SIGTERM)
                        try await drive.quire("mount", drive.mountpoint).require(0)
                    default:
                        try await space.sh("umount one || fusermount3 -u one")
                        try await drive.quire("mount", drive.mountpoint).require(0)
                    }
                    #expect(try await drive.sh("cat f200") == "\(round)\n")
                    #expect(try #require(drive.daemonProcessID) != before)
                }
            }
        }

        @Test(
            "A daemon that neither serves nor ends is named after a while, and nothing is changed",
            .timeLimit(.minutes(3)))
        func stuck() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                try await drive.sh("echo x > f")
                let daemon = try #require(drive.daemonProcessID)
                kill(daemon, SIGSTOP)
                defer { kill(daemon, SIGCONT) }
                let outcome = try await drive.quire(["mount", drive.mountpoint], limitSeconds: 60).require(75)
                #expect(outcome.errors.contains("\(daemon)"))
                kill(daemon, SIGCONT)
                #expect(try await drive.sh("cat f") == "x\n")
            }
        }
    }
}
