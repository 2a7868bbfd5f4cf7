import Foundation
import Testing

extension EndToEnd {
    /// Programs that watch a directory with inotify, as editors and file managers do, and another device's changes.
    @Suite("Watching", .timeLimit(.minutes(5)))
    struct WatchingTests {
        @Test("Who watches is told of documents and directories that come, are replaced, moved and deleted elsewhere")
        func events() async throws { try await run("events") }

        @Test(
            "While an app keeps a program waiting that keeps a directory locked, changes arrive there and elsewhere; who watches is told again after it"
        )
        func held() async throws { try await run("held") }

        @Test("Without the process that calls for the daemon, and while that is stopped, changes arrive all the same")
        func killed() async throws { try await run("killed") }

        @Test(
            "A daemon that is killed while a program keeps a directory locked, where something has just come, dies and lets go of all"
        )
        func dies() async throws { try await run("dies") }

        @Test("Two thousand documents that come at once are all told")
        func many() async throws { try await run("many") }

        @Test("Who watches each directory that comes, and lists it then, knows of everything in it")
        func tree() async throws { try await run("tree") }

        @Test(
            "In an ordinary user's mount, too, and it can be unmounted by whomever afterwards",
            .enabled(
                if: Machine.isRoot && Machine.has("fusermount3") && Machine.has("setpriv"),
                "becomes another user, which needs root, fusermount3 and setpriv"),
            arguments: ["events", "held"])
        func ordinaryUser(scenario: String) async throws {
            try await Workspace.use { space in
                try await space.sh(
                    """
                    chmod 755 .; mkdir nobody; chown nobody: nobody; \(Machine.copyPrograms)
                    cp '\(Machine.programs)/watching.py' .
                    """)
                let script = """
                    export HOME=$PWD; for d in one two; do
                        mkdir $d; ../quire --home $PWD/$d.home provider add shared "folder:$PWD/shared" --default
                        sed -i 's/^poll_seconds =.*/poll_seconds = 3600/' $d.home/config.toml
                        ../quire --home $PWD/$d.home mount $d > /dev/null
                    done
                    trap 'for d in one two; do fusermount3 -uz $d 2> /dev/null || true; done' EXIT
                    /usr/bin/python3 ../watching.py \(scenario) "$PWD/../quire" $PWD/two.home $PWD/two $PWD/one.home $PWD/one
                    fusermount3 -u one; ../quire --home $PWD/two.home unmount; trap - EXIT
                    """
                try await Command(
                    arguments: [
                        "setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--inh-caps=-all", "env",
                        "-u",
                        "QUIRE_HOME", "bash", "-euo", "pipefail", "-c", "mkdir -p shared; \(script)",
                    ], directory: "\(space.root)/nobody", limitSeconds: 150,
                    abortingMountsAt: ["\(space.root)/nobody/one", "\(space.root)/nobody/two"]
                ).succeed()
            }
        }

        private func run(_ scenario: String) async throws {
            try await Workspace.use { space in
                let provider = "\(space.root)/shared"
                let (one, two) = (
                    try await space.drive("one", provider: provider), try await space.drive("two", provider: provider)
                )
                for drive in [one, two] {
                    try drive.configure("poll_seconds", "3600")
                    try await drive.mount()
                }
                let output = try await two.python(
                    "watching.py",
                    [scenario, two.binary, two.home, two.mountpoint, one.home, one.mountpoint], limitSeconds: 150
                ).succeed()
                if !output.isEmpty { print(output) }
                // Nothing of it keeps the mount in use.
                try await Command(arguments: ["umount", two.mountpoint], limitSeconds: 20).succeed()
            }
        }
    }
}
