import Testing

extension Endurance {
    /// Random operations on a drive and on a plain directory of the same file system, compared one by one.
    @Suite("Differential")
    struct DifferentialTests {
        /// `QUIRE_DIFF_OPS` and `QUIRE_SEED` choose longer runs and repeat a failure.
        @Test("Random operations have the same results on a drive and on a disk", .timeLimit(.minutes(30)))
        func randomOperations() async throws {
            let operations = Machine.setting("QUIRE_DIFF_OPS", standard: 20_000)
            let seed = Machine.setting("QUIRE_SEED", standard: Int.random(in: 1...1_000_000))
            try await compare(operations: operations, seed: seed, options: [])
        }

        @Test("They also have without kernel passthrough", .timeLimit(.minutes(30)))
        func withoutPassthrough() async throws {
            let operations = Machine.setting("QUIRE_DIFF_OPS", standard: 20_000) / 4
            let seed = Machine.setting("QUIRE_SEED", standard: Int.random(in: 1...1_000_000))
            try await compare(operations: operations, seed: seed, options: ["-o", "nopassthrough"])
        }

        @Test("They also have where the kernel collects writes", .timeLimit(.minutes(30)))
        func collectingWrites() async throws {
            let operations = Machine.setting("QUIRE_DIFF_OPS", standard: 20_000) / 4
            let seed = Machine.setting("QUIRE_SEED", standard: Int.random(in: 1...1_000_000))
            try await compare(operations: operations, seed: seed, options: ["-o", "nopassthrough,writeback"])
        }

        private func compare(operations: Int, seed: Int, options: [String]) async throws {
            try await Workspace.use { space in
                let drive = try await space.drive()
                try await drive.mount(options: options)
                let plain = try space.directory("plain")
                let arguments = ["--seed", "\(seed)", "--operations", "\(operations)", drive.mountpoint, plain]
                let limit = max(120, Double(operations) / 100)
                try await drive.python("differential.py", arguments, limitSeconds: limit).succeed()
                // The store is the truth for content: with the daemon stopped it holds the same tree.
                try await drive.unmount()
                let store = try await drive.python("tree.py", [drive.store]).succeed()
                expectSame(store, try await drive.python("tree.py", [plain]).succeed(), "store and plain directory")
            }
        }
    }
}
