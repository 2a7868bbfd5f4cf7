import Foundation
import Glibc
import Testing

extension Endurance {
    /// The power goes: what had not reached the disk is gone, in the store, the index and the provider alike.
    @Suite(
        "Power cut",
        .enabled(if: Machine.canCutPower, "needs root, loop devices and mkfs.ext4 to cut a real file system short"))
    struct PowerCutTests {
        /// The home is on a real ext4 in an image file; an image copied between two block writes is exactly what a disk
        /// holds when the power goes at that moment: every prefix of the recorded writes is a possible copy.
        /// `QUIRE_CUTS` and `QUIRE_SEED` choose longer runs.
        @Test(
            "At every cut, what was fsynced is on the drive and is not undone by the sync that follows",
            .timeLimit(.minutes(30)))
        func cuts() async throws {
            let count = Machine.setting("QUIRE_CUTS", standard: 16)
            let seed = Machine.setting("QUIRE_SEED", standard: Int.random(in: 1...1_000_000))
            var random = SeededRandom(seed: UInt64(seed))
            try await Workspace.use { space in
                let disk = try await Disk.make(in: space)
                let drive = Drive(
                    name: "cut", home: "\(disk.mountpoint)/home", mountpoint: try space.directory("drive"))
                do {
                    try await run(drive, on: disk, in: space, cuts: count, seed: seed, random: &random)
                    for cut in 1...count {
                        try await disk.insert("cut\(cut).img")
                        try await recover(drive, in: space, cut: cut, seed: seed)
                        await drive.close()
                        try await disk.eject()
                    }
                } catch {
                    let log = try? String(contentsOfFile: "\(drive.home)/daemon.log", encoding: .utf8)
                    await drive.close()
                    try? await disk.eject()
                    throw Trouble("QUIRE_SEED=\(seed): \(error)\n\(log?.suffix(3000) ?? "")")
                }
            }
        }

        @Test(
            "What was made durable by its content alone is sent after a cut, though nothing else tells that it changed",
            .timeLimit(.minutes(5)), arguments: ["fdatasync", "O_SYNC", "O_DSYNC", "O_DSYNC | os.O_DIRECT"])
        func contentOnly(means: String) async throws {
            try await Workspace.use { space in
                let disk = try await Disk.make(in: space)
                let drive = Drive(
                    name: "cut", home: "\(disk.mountpoint)/home", mountpoint: try space.directory("drive"))
                do {
                    try await drive.mount()
                    try await drive.sh("head -c 65536 /dev/zero > document")
                    try await drive.quire("sync").require(0)
                    try await drive.sh("sync -f '\(disk.mountpoint)'")
                    try await drive.sh(
                        """
                        python3 -c 'import mmap, os
                        file = os.open("document", os.O_WRONLY\(means == "fdatasync" ? "" : " | os.\(means)"))
                        content = mmap.mmap(-1, 65536)
                        content[:] = b"x" * 65536
                        os.pwritev(file, [content], 0)
                        \(means == "fdatasync" ? "os.fdatasync(file)" : "")'
                        """)
                    try await disk.copy(to: "cut.img", log: "none", stopping: drive)
                    try drive.crash()
                    await drive.close()
                    try await disk.eject()
                    try await disk.insert("cut.img")
                    try await drive.mount()
                    try await drive.sh("test $(tr -d x < document | wc -c) = 0")
                    try await drive.quire("sync", "--timeout", "45").require(0)
                    try await expectProviderMatches(drive)
                } catch {
                    await drive.close()
                    try? await disk.eject()
                    throw error
                }
                await drive.close()
                try await disk.eject()
            }
        }

        /// Works on the drive while images are taken.
        private func run(
            _ drive: Drive, on disk: Disk, in space: Workspace, cuts: Int, seed: Int, random: inout SeededRandom
        ) async throws {
            try await drive.mount()
            let arguments = ["durable", "\(drive.mountpoint)/work", "\(space.root)/log", "\(seed)"]
            async let writer = drive.python("crash_load.py", arguments, limitSeconds: 300).run()
            for cut in 1...cuts {
                try await Task.sleep(for: .seconds(Double.random(in: 0.05...0.6, using: &random)))
                try await disk.copy(to: "cut\(cut).img", log: "log", stopping: drive)
            }
            try drive.crash()
            try await writer.require(0)
            await drive.close()
            try await disk.eject()
        }

        private func recover(_ drive: Drive, in space: Workspace, cut: Int, seed: Int) async throws {
            let verify = drive.python(
                "crash_load.py", ["verify-after-cut", "\(drive.mountpoint)/work", "\(space.root)/cut\(cut).img.log"])
            do {
                try await drive.mount()
                try await verify.succeed()
                try await drive.quire("sync", "--timeout", "45").require(0, 2)
                print("cut \(cut): \(try await verify.succeed())", terminator: "")
                try await drive.sh("find . -name '.goutputstream-tmp' -delete")
                try await expectProviderMatches(drive)
            } catch {
                throw Trouble("cut \(cut): \(error)")
            }
        }
    }
}

/// An ext4 in an image file, in place of a disk.
private struct Disk {
    let root: String
    let mountpoint: String

    static func make(in space: Workspace) async throws -> Disk {
        let disk = Disk(root: space.root, mountpoint: try space.directory("disk"))
        try await space.sh(
            "truncate -s 128M disk.img; mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 disk.img")
        try await disk.insert("disk.img")
        return disk
    }

    /// Mounts an image; a copy is recovered from its journal first, as after a loss of power.
    func insert(_ image: String) async throws {
        // No commit but those that fsync asks for: what no one made durable is lost at the cut.
        try await Command(
            arguments: ["mount", "-o", "loop,commit=300,user_xattr", "\(root)/\(image)", mountpoint], limitSeconds: 30
        ).succeed()
    }

    func eject() async throws {
        try await Command(arguments: ["umount", "-l", mountpoint], limitSeconds: 30).succeed()
    }

    /// Copies the image between two block writes, with the promises made until then.
    func copy(to name: String, log: String, stopping drive: Drive) async throws {
        guard let daemon = drive.daemonProcessID else { throw Trouble("no daemon") }
        let device = try await Command(arguments: ["findmnt", "-no", "SOURCE", mountpoint]).succeed()
        let statistics = "/sys/block/\(device.split(separator: "/").last?.trimmingCharacters(in: .newlines) ?? "")/stat"
        // Nothing is promised while the daemon stands still, so the log needs no more than to be taken first.
        kill(daemon, SIGSTOP)
        defer { kill(daemon, SIGCONT) }
        for _ in 0..<200 {
            let before = try String(contentsOfFile: statistics, encoding: .utf8)
            try await Command(
                arguments: [
                    "sh", "-c", "cp '\(log)' '\(name).log' 2>/dev/null; cp --sparse=always disk.img '\(name)'",
                ], directory: root
            ).succeed()
            let fields = before.split(separator: " ")
            // The ninth field counts requests in flight.
            if fields.count > 8, fields[8] == "0", try String(contentsOfFile: statistics, encoding: .utf8) == before {
                return
            }
        }
        throw Trouble("the disk never came to rest")
    }
}
