import Testing

extension Endurance {
    /// Random operations on a drive and on a plain directory of the same file system, compared one by one.
    @Suite("Differential")
    struct DifferentialTests {
        /// How content goes between programs and the store.
        enum Way: String, CaseIterable, CustomTestStringConvertible {
            case passthrough = "with kernel passthrough"
            case cached = "without kernel passthrough"
            case collecting = "where the kernel collects writes"
            var testDescription: String { rawValue }

            var options: [String] {
                switch self {
                case .passthrough: []
                case .cached: ["-o", "nopassthrough,nowriteback"]
                case .collecting: ["-o", "nopassthrough"]
                }
            }
        }

        private let operations = Machine.setting("QUIRE_DIFF_OPS", standard: 20_000)
        private let seed = Machine.setting("QUIRE_SEED", standard: Int.random(in: 1...1_000_000))

        /// `QUIRE_DIFF_OPS` and `QUIRE_SEED` choose longer runs and repeat a failure.
        @Test(
            "Random operations have the same results on a drive and on a disk", .timeLimit(.minutes(30)),
            arguments: Way.allCases)
        func randomOperations(way: Way) async throws {
            let operations = way == .passthrough ? operations : operations / 4
            try await compare(way) { drive, plain in
                let arguments = ["--seed", "\(seed)", "--operations", "\(operations)", drive.mountpoint, plain]
                let limit = max(120, Double(operations) / 100)
                try await drive.python("differential.py", arguments, limitSeconds: limit).succeed()
            }
        }

        /// The same variables, for each of the programs.
        @Test(
            "Programs that do so at once, with every flag, have the same results as on a disk",
            .timeLimit(.minutes(180)),
            arguments: Way.allCases)
        func concurrentPrograms(way: Way) async throws {
            try await compare(way) { drive, plain in
                let arguments = [
                    Machine.stress, "differential", "--seed", "\(seed)", "--operations", "\(operations / 4)",
                    "--processes", "4", "--against", plain, drive.mountpoint,
                ]
                let command = Command(
                    arguments: arguments, limitSeconds: max(120, Double(operations) / 50),
                    abortingMountsAt: [drive.mountpoint])
                print(try await command.succeed())
            }
        }

        /// Runs `work` with a drive and a plain directory beside it, and compares what is left.
        private func compare(_ way: Way, _ work: (Drive, String) async throws -> Void) async throws {
            try await Workspace.use { space in
                let drive = try await space.drive()
                try await drive.mount(options: way.options)
                let plain = try space.directory("plain")
                try await work(drive, plain)
                // The store is the truth for content: with the daemon stopped it holds the same tree.
                try await drive.unmount()
                let store = try await drive.python("tree.py", [drive.store]).succeed()
                expectSame(store, try await drive.python("tree.py", [plain]).succeed(), "store and plain directory")
            }
        }
    }
}
