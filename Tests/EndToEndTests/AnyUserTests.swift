import Foundation
import Glibc
import Testing

/// A drive of an ordinary user in a workspace: the user's directory, the binary where they can reach it, and what they run.
private struct OrdinaryUser {
    let space: Workspace
    let name: String
    let uid: Int
    /// Also what HOME is; nothing else of Quire's is set, so that the drive is in the user's own directories.
    let directory: String

    var mountpoint: String { "\(directory)/Drive" }
    var home: String { "\(directory)/.local/share/quire" }

    static func make(_ name: String, in space: Workspace) async throws -> OrdinaryUser {
        // The build may lie where only root can go.
        try await space.sh(
            "chmod 755 .; mkdir \(name); chown \(name): \(name); test -e quire || \(Machine.copyPrograms)"
        )
        let uid = try await space.sh("id -u \(name)").trimmingCharacters(in: .whitespacesAndNewlines)
        return OrdinaryUser(space: space, name: name, uid: Int(uid) ?? -1, directory: "\(space.root)/\(name)")
    }

    /// A script as this user, without root's rights, in the user's directory.
    func shell(_ script: String, limitSeconds: Double = 90, prefix: [String] = []) -> Command {
        Command(
            arguments: prefix + [
                "setpriv", "--reuid=\(uid)", "--regid=\(uid)", "--clear-groups", "--inh-caps=-all", "env", "-u",
                "QUIRE_HOME",
                "-u", "XDG_DATA_HOME", "-u", "XDG_CONFIG_HOME", "HOME=\(directory)", "QUIRE=\(space.root)/quire",
                "bash", "-euo", "pipefail", "-c", script,
            ], directory: directory, limitSeconds: limitSeconds, abortingMountsAt: [mountpoint])
    }

    @discardableResult
    func sh(_ script: String, limitSeconds: Double = 90) async throws -> String {
        try await shell(script, limitSeconds: limitSeconds).succeed()
    }

    /// Leaves nothing mounted.
    func close() async {
        await Drive(name: name, home: home, mountpoint: mountpoint, binary: "\(space.root)/quire").close()
    }
}

extension EndToEnd {
    /// Drives of ordinary users, mounted with fusermount3, beside other users and root.
    @Suite(
        "Any user", .timeLimit(.minutes(10)),
        .enabled(
            if: Machine.isRoot && Machine.has("fusermount3") && Machine.has("setpriv"),
            "becomes other users, which needs root, fusermount3 and setpriv"))
    struct AnyUserTests {
        /// Runs `body` with ordinary users, and ends their drives.
        private static func use(_ names: [String], _ body: (Workspace, [OrdinaryUser]) async throws -> Void)
            async throws
        {
            try await Workspace.use { space in
                var users: [OrdinaryUser] = []
                do {
                    for name in names { users.append(try await OrdinaryUser.make(name, in: space)) }
                    try await body(space, users)
                } catch {
                    let log = users.first.flatMap {
                        try? String(contentsOfFile: "\($0.home)/daemon.log", encoding: .utf8)
                    }
                    for user in users { await user.close() }
                    throw Trouble("\(error)\n\(log?.suffix(3000) ?? "")")
                }
                for user in users { await user.close() }
            }
        }

        @Test("Every command works without root, in the user's own directories; why there is no passthrough is said")
        func commands() async throws {
            try await Self.use(["nobody"]) { _, users in
                let user = users[0]
                let text = try await user.sh(
                    """
                    mkdir office; "$QUIRE" provider add office "folder:$HOME/office" --default
                    test -e .config/quire/config.toml; test ! -e .local/share/quire/config.toml
                    "$QUIRE" mount; cd Drive
                    mkdir d; seq 5000 > d/f; echo x > g; ln -s d/f link; sed -i s/9/nine/ d/f; mv g h; sync d/f
                    "$QUIRE" sync; "$QUIRE" evict d/f; "$QUIRE" status d/f; "$QUIRE" download d; "$QUIRE" status d/f
                    "$QUIRE" evict d/f; wc -l < d/f; cmp d/f ../office/d/f; "$QUIRE" find 'f'; "$QUIRE" info h > ../info
                    "$QUIRE" pin h; "$QUIRE" manifest | sha256sum -c --quiet; "$QUIRE" check --provider
                    "$QUIRE" status --driver; getfattr --only-values -n user.quire.state h; echo
                    cd ..; "$QUIRE" unmount; cat .local/share/quire/drive/h; ! "$QUIRE" sync 2> /dev/null
                    """)
                for line in ["dataless    d/f", "current     d/f", "5000", "d/f", "current", "x"] {
                    #expect(text.split(separator: "\n").contains(Substring(line)), "\(line) in \(text)")
                }
                #expect(text.contains("Passthrough  no: the daemon lacks CAP_SYS_ADMIN"), "\(text)")
            }
        }

        @Test(
            "Another user and root get EACCES in a user's mount, and the user's control socket and home are closed to them"
        )
        func others() async throws {
            try await Self.use(["nobody", "daemon"]) { space, users in
                try await users[0].sh(
                    "\"$QUIRE\" mount > /dev/null; echo secret > Drive/f; chmod 777 Drive; chmod 666 Drive/f")
                for who in ["daemon", "root"] {
                    let script = "cat '\(users[0].mountpoint)/f' || true; ls '\(users[0].mountpoint)/' || true"
                    let command =
                        who == "root"
                        ? Command(arguments: ["bash", "-c", script], limitSeconds: 20) : users[1].shell(script)
                    let outcome = await command.run()
                    #expect(outcome.output == "")
                    #expect(
                        outcome.errors.split(separator: "\n").filter { $0.contains("Permission denied") }.count == 2)
                }
                let foreign = await users[1].shell("\"$QUIRE\" --home '\(users[0].home)' status").run()
                #expect(foreign.status != 0)
                #expect(foreign.errors.contains(users[0].home), "\(foreign.errors)")
                #expect(try await users[0].sh("cat Drive/f") == "secret\n")
            }
        }

        @Test("allow_other needs user_allow_other in fuse.conf, which the error says; with it modes decide")
        func sharing() async throws {
            try await Self.use(["nobody", "daemon"]) { space, users in
                // Another fuse.conf for this test alone: laid over the machine's in a mount namespace.
                func inNamespace(_ configuration: String, _ script: String) async throws -> Command.Outcome {
                    try configuration.write(toFile: "\(space.root)/fuse.conf", atomically: true, encoding: .utf8)
                    let whole = """
                        mount --make-rprivate /; mount --bind fuse.conf /etc/fuse.conf
                        as() { local uid=$1 home=$2; shift 2; setpriv --reuid=$uid --regid=$uid --clear-groups \
                            env -u QUIRE_HOME HOME=$home "$@"; }
                        owner() { as \(users[0].uid) '\(users[0].directory)' "$@"; }
                        other() { as \(users[1].uid) '\(users[1].directory)' "$@"; }
                        \(script)
                        """
                    return await Command(
                        arguments: ["unshare", "--mount", "bash", "-uo", "pipefail", "-c", whole],
                        directory: space.root,
                        limitSeconds: 60
                    ).run()
                }
                let refused = try await inNamespace("#user_allow_other\n", "owner ./quire mount -o allow_other")
                #expect(refused.status == 77)
                #expect(refused.errors.contains("user_allow_other"), "\(refused.errors)")
                #expect(refused.errors.contains("/etc/fuse.conf"))
                let shared = try await inNamespace(
                    "user_allow_other\n",
                    """
                    owner ./quire mount -o allow_other > /dev/null || exit 1
                    cd nobody/Drive; owner sh -c 'chmod 755 .; umask 022; echo all > all; echo mine > mine; chmod 600 mine; mkdir open; chmod 1777 open'
                    other cat all; other cat mine; other sh -c 'echo x > new'; other sh -c 'echo x >> all'; other rm all
                    cat all; cd ../..; owner ./quire unmount
                    """)
                #expect(shared.status == 0, "\(shared)")
                #expect(shared.output == "all\nall\n", "the other user and root read what modes let them: \(shared)")
                #expect(shared.errors.split(separator: "\n").filter { $0.contains("Permission denied") }.count == 4)
            }
        }

        @Test("In root's allow_other mount each user has what modes say, and owns what they make")
        func rootShares() async throws {
            try await Self.use(["nobody", "daemon"]) { space, users in
                let drive = try await space.drive()
                try await drive.mount(options: ["-o", "allow_other"])
                try await drive.sh(
                    "umask 022; chmod 755 .; echo read > read; echo no > no; chmod 600 no; mkdir -m 1777 open")
                let script = """
                    cd '\(drive.mountpoint)'; cat read; cat no || true; rm read || true; echo x > new || true
                    umask 027; echo mine > open/$(id -u); mkdir open/d$(id -u); stat -c '%u:%g %a %n' open/*$(id -u)
                    rm -f open/root || true; ls open
                    """
                try await drive.sh("echo root > open/root")
                for user in users {
                    let outcome = try await user.shell(script).run().require(0)
                    #expect(outcome.output.contains("\(user.uid):\(user.uid) 640 open/\(user.uid)"), "\(outcome)")
                    #expect(outcome.output.contains("\(user.uid):\(user.uid) 750 open/d\(user.uid)"))
                    #expect(outcome.output.contains("root\n"), "the sticky bit keeps root's file")
                    #expect(
                        outcome.errors.split(separator: "\n").filter {
                            $0.contains("Permission denied") || $0.contains("Operation not permitted")
                        }.count == 4, "\(outcome.errors)")
                }
                // Each other's are as closed as their modes.
                let peek = await users[1].shell("cat '\(drive.mountpoint)/open/\(users[0].uid)'").run()
                #expect(peek.errors.contains("Permission denied"))
                #expect(try await drive.sh("cat open/\(users[0].uid)") == "mine\n")
            }
        }

        @Test(
            "Where a user cannot mount, the message says which directory and why",
            arguments: ["root", "closed", "none"])
        func refusals(place: String) async throws {
            try await Self.use(["nobody"]) { space, users in
                try await space.sh("mkdir root; mkdir -m 700 hidden; mkdir hidden/closed")
                let (path, reason) =
                    switch place {
                    case "root": ("root", "may not write to")
                    case "closed": ("hidden/closed", "Permission denied")
                    default: ("hidden/none", "Permission denied")
                    }
                let outcome = await users[0].shell("\"$QUIRE\" mount '\(space.root)/\(path)'").run()
                #expect([69, 77].contains(outcome.status))
                #expect(
                    outcome.errors.contains("\(space.root)/\(path)") && outcome.errors.contains(reason), "\(outcome)")
                #expect(FuseConnection.at("\(space.root)/\(path)") == nil)
            }
        }

        @Test("After a crash the user mounts again over the dead mount, without root")
        func crash() async throws {
            try await Self.use(["nobody"]) { _, users in
                let user = users[0]
                try await user.sh("\"$QUIRE\" mount > /dev/null; echo kept > Drive/f; sync Drive/f")
                for _ in 0..<3 {
                    try Drive(name: "user", home: user.home, mountpoint: user.mountpoint).crash()
                    #expect(
                        try await user.sh("! ls Drive 2> /dev/null; \"$QUIRE\" mount > /dev/null; cat Drive/f")
                            == "kept\n")
                }
                // By fusermount3 as by the command.
                try await user.sh("fusermount3 -u Drive; \"$QUIRE\" mount > /dev/null; cat Drive/f; \"$QUIRE\" unmount")
            }
        }

        @Test("With 1,024 descriptors 50,000 files are listed, read and searched")
        func descriptors() async throws {
            try await Self.use(["nobody"]) { _, users in
                let user = users[0]
                // Made in the store of a drive that is not mounted: the rescan at the start finds them.
                try await user.sh("\"$QUIRE\" mount > /dev/null; \"$QUIRE\" unmount")
                try await user.sh(
                    """
                    cd .local/share/quire/drive; seq 500 | xargs mkdir
                    seq 500 | while read -r d; do for f in {1..100}; do echo "$d $f" > "$d/f$f"; done; done
                    """, limitSeconds: 240)
                let text = try await user.sh(
                    """
                    ulimit -n 1024; "$QUIRE" mount > /dev/null; cd Drive
                    find . -type f | wc -l; find . -type f -print0 | xargs -0 cat | wc -l; grep -rl '^500 100$' .
                    # Many directories open at once, as a program that walks by descriptors has them.
                    /usr/bin/python3 -c '
                    import os
                    held = [os.open(str(d), os.O_RDONLY) for d in range(1, 251)]
                    files = [os.open("f7", os.O_RDONLY, dir_fd=d) for d in held]
                    print(sum(os.read(f, 20).endswith(b" 7\\n") for f in files), len(os.listdir(held[200])))'
                    "$QUIRE" status --driver --json
                    """, limitSeconds: 240)
                let lines = text.split(separator: "\n").map(String.init)
                #expect(lines.prefix(2) == ["50000", "50000"], "\(text.prefix(1000))")
                #expect(lines.contains("./500/f100"))
                #expect(lines.contains("250 100"))
                let status = try JSON(try #require(lines.last))
                #expect(try status("descriptors")("limit").int == 1024)
                #expect(try status("descriptors")("used").int < 1024)
                #expect(try status("nodes").int >= 50_000)
            }
        }
    }
}
