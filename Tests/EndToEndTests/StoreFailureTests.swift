import Foundation
import Glibc
import Testing

extension EndToEnd {
    /// The file system below the store fails: programs get its errno, and what was whole is whole afterwards.
    @Suite(
        "Store failures", .timeLimit(.minutes(5)),
        .enabled(if: Machine.canCutPower, "needs root, loop devices and mkfs.ext4"))
    struct StoreFailureTests {
        /// All that `store_errors.py` changes.
        private static let changes = [
            "create", "mkdir", "symlink", "link", "mkfifo", "rename", "unlink", "rmdir", "write", "held write",
            "truncate",
            "fallocate", "chmod", "utimens", "setxattr",
        ]

        @Test(
            "A store that turned read-only gives EROFS for every change, and reading goes on", arguments: [true, false])
        func readOnly(passthrough: Bool) async throws {
            try await withDrive("ext4", mountOptions: "errors=remount-ro", passthrough) { space, drive, disk in
                // What ext4 does when it finds itself damaged.
                let answers = try await changes(drive) {
                    try await space.sh("echo test > /sys/fs/ext4/$(basename '\(disk.device())')/trigger_fs_error")
                }
                for change in Self.changes { #expect(answers[change] == "EROFS", "\(change): \(answers)") }
                for question in ["read", "list", "stat"] { #expect(answers[question] == "ok", "\(question)") }
                try await expectWhole(drive, disk, after: answers)
            }
        }

        @Test("A store whose disk fails gives EIO for every change; what was fsynced is there after the repair")
        func failingDisk() async throws {
            try await withDrive("ext4", mountOptions: "errors=continue", true) { space, drive, disk in
                // EXT4_IOC_SHUTDOWN, nothing more written: as if the disk were pulled.
                let pull = """
                    import fcntl, os, struct
                    fcntl.ioctl(os.open("disk", os.O_RDONLY), 0x8004587D, struct.pack("I", 2))
                    """
                let answers = try await changes(drive) { try await space.sh("/usr/bin/python3 -c '\(pull)'") }
                for change in Self.changes { #expect(answers[change] == "EIO", "\(change): \(answers)") }
                #expect(try await !drive.json("status")("errors").array.isEmpty)
                try await expectWhole(drive, disk, after: answers)
            }
        }

        @Test(
            "A full disk gives ENOSPC for what needs room; what frees some works, and nothing is lost",
            arguments: [true, false])
        func fullDisk(passthrough: Bool) async throws {
            try await withDrive("ext4", mountOptions: "errors=continue", passthrough) { space, drive, disk in
                let answers = try await changes(drive) {
                    let fill = await drive.shell("head -c 200M /dev/zero > filler").run()
                    #expect(fill.errors.contains("No space left"), "\(fill)")
                    // The last blocks, for small files.
                    _ = await drive.shell("for i in $(seq 500); do echo $i > small$i || exit; done").run()
                }
                #expect(answers["write"] == "ENOSPC", "\(answers)")
                #expect(answers["fallocate"] == "ENOSPC")
                for change in ["unlink", "rmdir", "rename", "truncate", "chmod", "utimens", "read", "list", "stat"] {
                    #expect(answers[change] == "ok", "\(change): \(answers)")
                }
                try await drive.sh("rm filler small*")
                // The index takes what it could not.
                try await eventually("the drive syncs again", seconds: 30) {
                    await drive.quire("sync", "--timeout", "10").status == 0
                }
                try await drive.quire("check", "--provider").require(0)
                try await expectWhole(drive, disk, after: answers)
            }
        }

        @Test(
            "A quota that is used up gives EDQUOT, and what frees room works",
            .enabled(if: Machine.has("mkfs.btrfs"), "needs btrfs-progs, whose quotas need no kernel module"),
            arguments: [true, false])
        func quota(passthrough: Bool) async throws {
            try await withDrive("btrfs", mountOptions: "", passthrough) { space, drive, disk in
                try await space.sh(
                    "sync -f disk; btrfs quota enable disk; btrfs quota rescan -w disk; btrfs qgroup limit 24M 0/5 disk"
                )
                let answers = try await changes(drive) {
                    // The quota counts what was committed.
                    // In small steps at last: what a large one leaves is room for a small document.
                    let fill = await drive.shell(
                        "for size in 1M 64K 4K; do for i in $(seq 40); do "
                            + "head -c $size /dev/urandom > filler$size$i && sync filler$size$i || break; done; done"
                    ).run()
                    #expect(fill.errors.contains("quota exceeded"), "\(fill)")
                }
                #expect(answers["write"] == "EDQUOT", "\(answers)")
                for change in ["read", "list", "stat"] { #expect(answers[change] == "ok", "\(change): \(answers)") }
                // Lifting the limit takes room itself, and may be refused for it; turning quotas off does not.
                try await eventually("the quota is lifted", seconds: 60) {
                    let lift =
                        "btrfs qgroup limit none 0/5 disk || btrfs quota disable disk || { sync -f disk; exit 1; }"
                    return (try? await space.sh(lift)) != nil
                }
                try await drive.sh("rm filler*")
                try await eventually("the drive syncs again", seconds: 30) {
                    await drive.quire("sync", "--timeout", "10").status == 0
                }
                try await drive.quire("check", "--provider").require(0)
                try await expectWhole(drive, disk, after: answers)
            }
        }

        /// Makes a file system in an image with a drive's home on it, and some documents.
        private func withDrive(
            _ type: String, mountOptions: String, _ passthrough: Bool,
            _ body: (Workspace, Drive, FailingDisk) async throws -> Void
        ) async throws {
            try await Workspace.use { space in
                let disk = FailingDisk(space: space, options: mountOptions)
                try await disk.make(type)
                let drive = Drive(name: "f", home: "\(space.root)/disk/home", mountpoint: try space.directory("drive"))
                do {
                    try await drive.mount(options: passthrough ? [] : ["-o", "nopassthrough"])
                    try await drive.sh("seq 2000 > kept; seq 3000 > whole; touch gone moved; mkdir hollow")
                    try await drive.sync()
                    try await space.sh("sync -f disk")
                    try await body(space, drive, disk)
                } catch {
                    let log = try? String(contentsOfFile: "\(drive.home)/daemon.log", encoding: .utf8)
                    await drive.close()
                    try? await disk.eject()
                    throw Trouble("\(error)\n\(log?.suffix(3000) ?? "")")
                }
                await drive.close()
                try await disk.eject()
            }
        }

        /// What each change is answered once `trouble` has come, with a file open since before.
        private func changes(_ drive: Drive, trouble: () async throws -> Void) async throws -> [String: String] {
            let signal = "\(drive.mountpoint).signal"
            async let ended = drive.python("store_errors.py", [drive.mountpoint, signal], limitSeconds: 90).run()
            do {
                try await eventually("a file is open", seconds: 20) { access("\(signal).open", F_OK) == 0 }
                try await trouble()
            } catch {
                try "".write(toFile: "\(signal).go", atomically: true, encoding: .utf8)
                _ = await ended
                throw error
            }
            try "".write(toFile: "\(signal).go", atomically: true, encoding: .utf8)
            let text = try await ended.require(0).output
            return text.split(separator: "\n").reduce(into: [:]) { answers, line in
                let words = line.split(separator: " ")
                guard words.count > 1, let last = words.last else { return }
                answers[words.dropLast().joined(separator: " ")] = String(last)
            }
        }

        /// The daemon lives and can be ended; on the repaired file system the drive is whole, and so are index and provider.
        private func expectWhole(_ drive: Drive, _ disk: FailingDisk, after answers: [String: String]) async throws {
            // Kept nowhere but here.
            if answers["mkfifo"] == "ok" { try await drive.sh("rm made.fifo") }
            #expect(try await drive.json("status")("state").string == "mounted")
            try await drive.quire("unmount").require(0)
            try await disk.repair()
            try await drive.mount()
            #expect(try await drive.sh("seq 3000 | cmp - whole && echo whole; head -c 5 whole") == "whole\n1\n2\n3")
            for name in ["gone", "hollow"] where answers[name == "gone" ? "unlink" : "rmdir"] != "ok" {
                #expect(try await drive.sh("ls -d \(name)") == "\(name)\n")
            }
            try await drive.sync()
            try await drive.quire("check", "--provider").require(0)
            try await expectProviderMatches(drive)
            try await drive.unmount()
        }
    }
}

/// A file system in an image file, in place of a disk.
private struct FailingDisk {
    let space: Workspace
    let options: String

    func make(_ type: String) async throws {
        let command = type == "btrfs" ? "mkfs.btrfs -q -M" : "mkfs.ext4 -q -F -m 0"
        try await space.sh("mkdir disk; truncate -s \(type == "btrfs" ? 256 : 64)M disk.img; \(command) disk.img")
        try await insert()
    }

    func device() async throws -> String {
        try await space.sh("findmnt -no SOURCE disk").trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Mounts it anew, repaired as after a crash.
    func repair() async throws {
        try await space.sh(
            "umount disk; [ \"$(blkid -o value -s TYPE disk.img)\" != ext4 ] || e2fsck -fy disk.img > e2fsck.out || [ $? = 1 ]"
        )
        try await insert()
    }

    func eject() async throws { try await space.sh("! mountpoint -q disk || umount -l disk") }

    private func insert() async throws {
        try await space.sh("mount -o 'loop\(options.isEmpty ? "" : ",\(options)")' disk.img disk")
    }
}
