import Testing

extension Endurance {
    /// What each file system call has to do, tried by one program on drives and on the bare file system below them.
    @Suite("Conformance", .timeLimit(.minutes(10)))
    struct ConformanceTests {
        @Test("The table of calls and their errors is right: the bare file system passes all of it")
        func bare() async throws { try await run("bare") }

        @Test(
            "Every call on root's drive does what the table says, for each user that it lets in",
            .enabled(if: Machine.isRoot, "needs root"), arguments: ["passthrough", "cached", "own"])
        func root(way: String) async throws { try await run(way) }

        @Test("Every call on an ordinary user's drive does what the table says")
        func user() async throws { try await run("user") }

        /// Each row that failed is an issue of its own.
        private func run(_ way: String) async throws {
            try await Workspace.use { space in
                let place = "\(space.root)/conformance"
                // Other users have to come in.
                try await space.sh("chmod 711 .")
                let outcome = await Command(
                    arguments: [Machine.scripts + "/conformance", "--in", place, Machine.quire, way],
                    limitSeconds: 400, abortingMountsAt: ["\(place)/\(way)/mount"]
                ).run()
                for line in outcome.output.split(separator: "\n") where line.hasPrefix("FAILED ") {
                    Issue.record("\(way): \(line.dropFirst(7))")
                }
                #expect(!outcome.timedOut, "\(outcome.output.suffix(1000))")
                #expect(outcome.status == 0, "\(outcome.output.suffix(1000))\(outcome.errors.suffix(1000))")
                let summary = try #require(outcome.output.split(separator: "\n").last)
                let passed = try #require(summary.firstMatch(of: #/(\d+) rows passed/#).flatMap { Int($0.1) })
                #expect(passed > 3_000, "\(summary)")
                let differing = outcome.output.split(separator: "\n").filter { $0.hasPrefix("DIFFERS ") }
                #expect(differing.allSatisfy { $0.contains("F_SETFL") || $0.contains("atime") }, "\(differing)")
            }
        }
    }
}
