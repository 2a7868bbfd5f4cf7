import Foundation
import Testing

extension Endurance {
    /// Two devices on one account, one of them with its clock off.
    @Suite("Clocks apart", .timeLimit(.minutes(10)))
    struct ClockTests {
        static var places: [String] {
            ["folder"] + ["apache", "seaweedfs"].filter { StorageServers.started[$0] != nil }
        }

        @Test(
            "With clocks a day apart all is as with clocks that agree: edits, conflicts, moves, deletions, times",
            arguments: places.flatMap { $0 == "folder" ? [($0, 1), ($0, -1)] : [($0, $0 == "apache" ? 1 : -1)] })
        func apart(place: String, days: Int) async throws {
            let together = try await outcome(place, days: 0)
            let apart = try await outcome(place, days: days)
            expectSame(apart, together, "clocks \(days) days apart, and clocks that agree")
            #expect(together.split(separator: "\n").count >= 7, "\(together)")
        }

        @Test("An upload of another device that is under way is left alone by one whose clock is days ahead")
        func sweep() async throws {
            try await Workspace.use { workspace in
                let shared = "\(workspace.root)/shared"
                let one = try await workspace.mounted("one", provider: shared)
                try await one.sh("echo text > doc")
                try await one.sync()
                // On a share without locks nothing but its age tells that it is in use.
                try await workspace.sh("echo half > shared/.quire/tmp/put-another")
                let two = try await off(workspace.drive("two", provider: shared), days: 3, in: workspace)
                try await two.mount()
                try await expectOff(two)
                try await two.sync()
                #expect(try await two.sh("cat doc") == "text\n")
                #expect(try await workspace.sh("cat shared/.quire/tmp/put-another") == "half\n")
            }
        }

        /// What two devices have on their drives after the same work, and what they say of it, without what names a day.
        private func outcome(_ place: String, days: Int) async throws -> String {
            try await Workspace.use { workspace in
                let (one, two) = try await devices(place, days: days, workspace)
                for drive in [one, two] { try await drive.mount() }
                if days != 0 { try await expectOff(two) }
                try await one.sh("mkdir d; echo first > doc; echo x > d/x; echo keep > kept; echo other > both")
                try await one.sh("touch -d '2020-01-02 03:04:05' kept")
                for drive in [one, two] { try await drive.sync() }
                // What was written last counts, whatever time its writer has.
                try await two.sh("cat doc both d/x > /dev/null; echo second > doc; mv d/x d/y")
                for drive in [two, one] { try await drive.sync() }
                #expect(try await one.sh("cat doc d/y") == "second\nx\n")
                try await one.sh("echo third > doc; mv d e; echo new > e/new")
                for drive in [one, two] { try await drive.sync() }
                #expect(try await two.sh("cat doc e/new") == "third\nnew\n")
                try await two.sh("rm e/new; echo again > e/again")
                // An object store keeps the mode that content was sent with.
                if !StorageServers.stores.contains(place) { try await two.sh("chmod 600 e/y") }
                for drive in [two, one] { try await drive.sync() }
                // Of two edits the one that came first keeps the name.
                for drive in [one, two] { try await drive.quire("pause").require(0) }
                try await one.sh("echo of one > both")
                try await two.sh("echo of two > both")
                for drive in [one, two, one] {
                    try await drive.quire("resume").require(0)
                    _ = await drive.quire("sync", "--timeout", "45")
                }
                let trees = try await [tree(one), tree(two)]
                expectSame(trees[1], trees[0], "both devices")
                for drive in [one, two] {
                    let status = try await drive.json("status")
                    #expect(try status("pending")("upload").int == 0 && status("pending")("delete").int == 0)
                    #expect(try status("errors").array.isEmpty)
                }
                #expect(trees[0].contains("of one") && trees[0].contains("of two"))
                return trees[0]
            }
        }

        private func devices(_ place: String, days: Int, _ workspace: Workspace) async throws -> (Drive, Drive) {
            if place == "folder" {
                let shared = "\(workspace.root)/shared"
                return try await (
                    workspace.drive("one", provider: shared),
                    off(workspace.drive("two", provider: shared), days: days, in: workspace)
                )
            }
            let account = try await StorageServers.account(place)
            return try await (
                workspace.drive(at: account, "one"),
                off(workspace.drive(at: account, "two"), days: days, in: workspace)
            )
        }

        /// The drive on a machine whose clock is so many days ahead.
        private func off(_ drive: Drive, days: Int, in workspace: Workspace) async throws -> Drive {
            let library = "\(workspace.root)/clock_off.so"
            try await Command(arguments: [
                "cc", "-shared", "-fPIC", "-O1", "-o", library, "\(Machine.programs)/clock_off.c",
            ]).succeed()
            var drive = drive
            drive.variables["LD_PRELOAD"] = library
            drive.variables["QUIRE_CLOCK_OFF"] = "\(days * 86_400)"
            return drive
        }

        private func expectOff(_ drive: Drive) async throws {
            let daemon = try #require(drive.daemonProcessID)
            try await drive.sh("grep -q clock_off.so /proc/\(daemon)/maps")
            try await drive.sh("grep -q QUIRE_CLOCK_OFF= /proc/\(daemon)/environ")
        }

        /// Names, what is in them, and times that somebody set.
        private func tree(_ drive: Drive) async throws -> String {
            let names = try await drive.sh(
                """
                find . -type f -printf '%P %m\\n' | sort | while read -r name; do
                    echo "$name: $(cat "${name% *}")"
                done
                stat -c '%n %Y' kept
                """)
            return names.replacing(/\d{4}-\d\d-\d\d/, with: "DAY")
        }
    }
}
