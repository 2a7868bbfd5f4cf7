import Foundation
import Glibc
import Testing

extension EndToEnd {
    /// The ways in which a drive is mounted other than by a person: fstab, a service manager, an installation.
    @Suite("Mounting", .timeLimit(.minutes(5)))
    struct MountingTests {
        @Test(
            "Every form of fstab line mounts once, as the user it names, and umount ends the daemon",
            .enabled(if: Machine.isRoot && Machine.has("unshare"), "needs root and unshare"))
        func fstab() async throws {
            try await Workspace.use { space in
                let outcome = try await Command(
                    arguments: [
                        "unshare", "--mount", "bash", "\(Machine.programs)/fstab.sh", Machine.quire, space.root,
                    ],
                    limitSeconds: 180
                ).run().require(0)
                let passed = outcome.output.split(separator: "\n").filter { $0.hasPrefix("ok ") }
                #expect(passed.count == 7, "\(outcome.output)")
                #expect(outcome.output.contains("\"frobnicate\" is not known"))
            }
        }

        @Test("As a service it says when the drive answers, that it lives and that it stops; its log has priorities")
        func service() async throws {
            try await Workspace.use { space in
                let drive = try await space.drive()
                let text = try await drive.python("service.py", [drive.binary, drive.home, drive.mountpoint]).succeed()
                let lines = text.split(separator: "\n")
                #expect(text.contains("['READY=1', 'STATUS=Your drive is at \(drive.mountpoint)']"), "\(text)")
                #expect(lines.contains("hello"))
                #expect(lines.contains("alive"))
                let second = try #require(lines.first { $0.hasPrefix("second") })
                #expect(second.hasPrefix("second 69") && second.contains("mounted already"))
                #expect(lines.contains("exit 0"))
                let log = lines.filter { $0.hasPrefix("log ") }
                #expect(log.contains { $0.hasPrefix("log <6>serving ") }, "\(text)")
                #expect(log.allSatisfy { $0.dropFirst(4).hasPrefix("<") })
                #expect(FuseConnection.at(drive.mountpoint) == nil)
            }
        }

        @Test(
            "make install places programs, helper, manual pages, completions and service; make uninstall takes them away"
        )
        func installation() async throws {
            try await Workspace.use { space in
                let sources = URL(fileURLWithPath: Machine.programs).appendingPathComponent("../../..").path
                try await space.sh("'\(sources)/Scripts/install' '\(Machine.quire)' \"$PWD/root\" /opt/quire")
                let files = try await space.sh("cd root; find . ! -type d | sort")
                for file in [
                    "opt/quire/bin/quire", "opt/quire/share/man/man1/quire.1",
                    "opt/quire/share/man/man8/mount.fuse.quire.8", "opt/quire/share/bash-completion/completions/quire",
                    "opt/quire/share/zsh/site-functions/_quire",
                    "opt/quire/share/fish/vendor_completions.d/quire.fish",
                    "opt/quire/share/systemd/user/quire.service", "sbin/mount.fuse.quire",
                ] { #expect(files.contains("./\(file)\n"), "\(file)") }
                #expect(files.contains("./opt/quire/libexec/quire/quire-main\n"))
                #expect(try await space.sh("readlink root/sbin/mount.fuse.quire") == "/opt/quire/bin/quire\n")
                #expect(try await space.sh("root/opt/quire/bin/quire --version") == "0.1.0\n")
                try await space.sh("bash -n root/opt/quire/share/bash-completion/completions/quire")
                let unit = "root/opt/quire/share/systemd/user/quire.service"
                #expect(try await space.sh("grep -c /opt/quire/bin/quire \(unit)") == "2\n")
                if Machine.has("systemd-analyze") {
                    try await space.sh("sed -i \"s|/opt/quire|$PWD/root/opt/quire|\" \(unit)")
                    try await space.sh("XDG_RUNTIME_DIR=$PWD systemd-analyze verify --user --man=no \(unit)")
                }
                try await space.sh("'\(sources)/Scripts/install' --remove \"$PWD/root\" /opt/quire")
                #expect(try await space.sh("find root ! -type d") == "")
            }
        }
    }
}
