import Foundation
import Glibc
import Testing

extension Endurance {
    /// Much at once and in any order. `make stress` runs each test many times as long: `QUIRE_STRESS` is the factor,
    /// `QUIRE_SEED` repeats a run.
    @Suite("Stress")
    struct StressTests {
        /// Who mounts, and how content goes between programs and the store.
        enum Form: String, CaseIterable, CustomTestStringConvertible {
            case passthrough = "with kernel passthrough"
            case cached = "without kernel passthrough"
            case ordinaryUser = "as an ordinary user"
            var testDescription: String { rawValue }
        }

        private let factor = Machine.setting("QUIRE_STRESS", standard: 1)
        private let seed = Machine.setting("QUIRE_SEED", standard: Int.random(in: 1...1_000_000))

        @Test(
            "Random reads, writes, mappings, holes and copies find the content of a model", .timeLimit(.minutes(60)),
            arguments: Form.allCases)
        func contents(form: Form) async throws {
            try await withDrive(form) { stand in
                print(try await stand.stress("contents", operations: 15_000 * factor, processes: 2, seed: seed))
                try await stand.expectStoreMatches()
            }
        }

        @Test(
            "Names fought over by many processes leave a tree equal to the store's and the index's",
            .timeLimit(.minutes(60)), arguments: Form.allCases)
        func names(form: Form) async throws {
            try await storm("names", operations: 1500, form)
        }

        @Test(
            "Documents that are replaced all the time are there and whole for whoever opens them by name",
            .timeLimit(.minutes(60)), arguments: Form.allCases)
        func replaced(form: Form) async throws {
            try await storm("replaced", operations: 1000, form)
        }

        @Test(
            "What stays in a directory is listed exactly once while others come and go", .timeLimit(.minutes(60)),
            arguments: [Form.passthrough, .ordinaryUser])
        func listing(form: Form) async throws {
            try await withDrive(form) { stand in
                let files = factor == 1 ? ["--files", "4000"] : ["--files", "200000"]
                print(try await stand.stress("listing", operations: 5 * min(factor, 10), options: files, seed: seed))
            }
        }

        @Test("A thousand programs at once find what they wrote and count without a loss", .timeLimit(.minutes(60)))
        func clients() async throws {
            try await withDrive(.passthrough) { stand in
                let rounds = min(factor, 20)
                print(try await stand.stress("clients", operations: rounds, processes: 1000, seed: seed))
                try await stand.expectStoreMatches()
                try await stand.expectNothingHeld()
            }
        }

        @Test(
            "Programs killed in the middle of anything are gone, with their locks; interrupted ones hear of it at once",
            .timeLimit(.minutes(60)), arguments: Form.allCases)
        func killed(form: Form) async throws {
            try await withDrive(form) { stand in
                print(try await stand.stress("killed", operations: 100 * factor, processes: 12, seed: seed))
                // Where the kernel keeps the times, one that a killed program was about to send is lost, and the file's next
                // close says so once.
                let collects = form != .passthrough
                if collects { _ = await stand.command(["sh", "-c", "cat '\(stand.drive.mountpoint)'/*"]).run() }
                try await stand.expectStoreMatches(times: !collects)
                try await stand.expectNothingHeld()
            }
        }

        @Test(
            "Whoever writes and truncates, and however many at once, the store has the times that the drive shows",
            .timeLimit(.minutes(60)), arguments: Form.allCases)
        func times(form: Form) async throws {
            try await withDrive(form) { stand in
                let program = try await stand.program("times.py")
                let arguments = program + ["\(seed)", "\(30 * factor)", stand.drive.mountpoint]
                try await stand.command(arguments, limitSeconds: 3000).succeed()
                try await stand.expectStoreMatches()
            }
        }

        /// Where the kernel neither writes by itself nor collects writes, it would take what a listing under way tells of the
        /// file for newer than the hole.
        @Test("A file has the time of a hole at once, whoever lists its directory meanwhile", .timeLimit(.minutes(60)))
        func listedTimes() async throws {
            try await Workspace.use { space in
                let drive = try await space.drive()
                try await drive.mount(options: ["-o", "nopassthrough,nowriteback"])
                let arguments = ["\(drive.mountpoint)/directory", "\(20_000 * factor)"]
                try await drive.python("listed_times.py", arguments, limitSeconds: 3000).succeed()
            }
        }

        @Test(
            "Documents whose content is taken away all the time are found whole by whoever opens them",
            .timeLimit(.minutes(60)))
        func evictions() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                let arguments = [Machine.quire, drive.home, "\(3 * factor)", "\(drive.mountpoint)/documents"]
                print(try await drive.python("evict_race.py", arguments, limitSeconds: 3000).succeed())
                // A download changes its directory's time; all of them come before the comparison.
                try await drive.sh("cat documents/* > /dev/null")
                try await Stand(drive: drive, form: .passthrough).expectStoreMatches()
            }
        }

        /// In `make stress` only: of its rounds one in some hundred still ends with a document more on one device.
        @Test(
            "Two devices fought over by many processes end with the same documents",
            .enabled(if: Machine.setting("QUIRE_STRESS", standard: 1) > 1), .timeLimit(.minutes(60)))
        func twoDevices() async throws {
            try await Workspace.use { space in
                let provider = "\(space.root)/provider"
                let one = try await space.mounted("one", provider: provider)
                let two = try await space.mounted("two", provider: provider)
                let stands = [Stand(drive: one, form: .passthrough), Stand(drive: two, form: .passthrough)]
                for round in 0..<(8 * factor) {
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for (number, stand) in stands.enumerated() {
                            let arguments = stand.arguments(
                                "shared", operations: 150, processes: 3, options: [], seed: seed + 2 * round + number)
                            group.addTask { try await stand.command(arguments, limitSeconds: 1800).succeed() }
                            // Beside the storm: whatever comes of it now.
                            group.addTask { _ = await stand.drive.quire("sync", "--timeout", "3") }
                        }
                        try await group.waitForAll()
                    }
                    // A round brings each device the other's copies of what both had changed.
                    for _ in 0..<3 {
                        for drive in [one, two] { try await drive.quire("sync", "--timeout", "45").require(0, 2) }
                    }
                    // A download changes its directory's time; all of them come before the comparison.
                    try await expectSameDrives(one, two)
                    // What the other still has, and changes, of what went.
                    guard round % 4 == 2 else { continue }
                    try await one.sh("find . -mindepth 1 -delete")
                    try await one.quire("sync", "--confirm-deletes", "--timeout", "45").require(0, 2)
                }
                for stand in stands { try await stand.expectStoreMatches() }
            }
        }

        /// A load of eight processes on one drive, after which all is as it was kept, and nothing is held.
        private func storm(_ load: String, operations: Int, _ form: Form) async throws {
            try await withDrive(form) { stand in
                print(try await stand.stress(load, operations: operations * factor, processes: 8, seed: seed))
                try await stand.expectStoreMatches()
                try await stand.expectNothingHeld()
            }
        }

        private func withDrive(_ form: Form, _ body: (Stand) async throws -> Void) async throws {
            try await Workspace.use { space in
                guard form == .ordinaryUser else {
                    let drive = try await space.drive()
                    try await drive.mount(options: form == .cached ? ["-o", "nopassthrough"] : [])
                    return try await body(Stand(drive: drive, form: form))
                }
                guard Machine.isRoot, Machine.has("fusermount3"), Machine.has("setpriv") else {
                    return FileHandle.standardError.write(Data("SKIPPED: as an ordinary user: needs root\n".utf8))
                }
                // The build may lie where only root can go.
                try await space.sh(
                    """
                    chmod 755 .; \(Machine.copyPrograms); cp '\(Machine.stress)' quire-stress; chmod 755 quire-stress
                    mkdir user.home user; chown 65534:65534 user.home user; chmod 700 user.home
                    """)
                let drive = try await space.drive("user", binary: "\(space.root)/quire")
                let stand = Stand(drive: drive, form: form, program: "\(space.root)/quire-stress")
                try await stand.command([drive.binary, "mount", drive.mountpoint]).succeed()
                do {
                    try await body(stand)
                    try await stand.command([drive.binary, "unmount"]).succeed()
                } catch {
                    _ = await stand.command([drive.binary, "unmount"]).run()
                    throw error
                }
            }
        }
    }

    /// A drive and who works on it.
    struct Stand: Sendable {
        let drive: Drive
        let form: StressTests.Form
        var program = Machine.stress

        /// A command as the drive's owner, outside the mount.
        func command(_ arguments: [String], limitSeconds: Double = 60) -> Command {
            let become = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"]
            return Command(
                arguments: (form == .ordinaryUser ? become : []) + arguments, directory: "/",
                environment: ["QUIRE_HOME": drive.home, "HOME": drive.home], limitSeconds: limitSeconds,
                abortingMountsAt: [drive.mountpoint])
        }

        func arguments(
            _ load: String, operations: Int, processes: Int, options: [String], seed: Int
        ) -> [String] {
            [program, load, "--seed", "\(seed)", "--operations", "\(operations)", "--processes", "\(processes)"]
                + options + [drive.mountpoint]
        }

        /// Runs one of quire-stress's loads in the drive and returns what it printed.
        func stress(
            _ load: String, operations: Int, processes: Int = 1, options: [String] = [], seed: Int
        ) async throws -> String {
            let arguments = arguments(
                load, operations: operations, processes: processes, options: options, seed: seed)
            return try await command(arguments, limitSeconds: 3000).succeed()
        }

        /// The beginning of a command that runs one of the Python programs beside these tests, where the drive's owner may
        /// read it.
        func program(_ name: String) async throws -> [String] {
            let copy = "\(drive.home)/\(name)"
            try await Command(arguments: ["cp", "\(Machine.programs)/\(name)", copy]).succeed()
            return ["/usr/bin/python3", copy]
        }

        /// Mount, store and index tell of the same entries.
        ///
        /// - Parameter times: whether the files' times are compared, too.
        func expectStoreMatches(times: Bool = true) async throws {
            let listing = try await program("tree.py") + (times ? ["--mtime"] : [])
            let shown = try await command(listing + [drive.mountpoint]).succeed()
            let kept = try await command(listing + [drive.store]).succeed()
            expectSame(shown, kept, "drive and store")
            let check = await command([drive.binary, "check"]).run()
            #expect(check.status == 0, "\(check.output)\(check.errors)")
        }

        /// No handle and no request is left over.
        func expectNothingHeld() async throws {
            try await eventually("all handles of \(drive.mountpoint) are closed", seconds: 10) {
                let report = try await report()
                return try report("openFiles").int == 0 && report("parked").int == 0
            }
        }

        private func report() async throws -> JSON {
            try JSON(try await command([drive.binary, "status", "--driver", "--json"]).succeed())
        }
    }
}
