import Foundation
import Glibc
import Testing

extension Endurance {
    /// The daemon dies at random moments; nothing that was promised may be gone.
    @Suite("Kill")
    struct KillTests {
        /// `QUIRE_KILL_ROUNDS` and `QUIRE_SEED` choose longer runs and repeat one.
        @Test(
            "After kill -9 at any moment every fsynced byte is there and every surviving edit is uploaded",
            .timeLimit(.minutes(30)))
        func killUnderLoad() async throws {
            let rounds = Machine.setting("QUIRE_KILL_ROUNDS", standard: 30)
            let seed = Machine.setting("QUIRE_SEED", standard: Int.random(in: 1...1_000_000))
            var random = SeededRandom(seed: UInt64(seed))
            try await Workspace.use { space in
                let drive = try await space.mounted()
                for round in 1...rounds {
                    do {
                        let moment = Double.random(in: 0.03...0.7, using: &random)
                        let syncs = Bool.random(using: &random)
                        try await load(drive, in: space, round: round, seed: seed, seconds: moment, syncs: syncs)
                        try await drive.mount()
                        try await verify(drive, in: space)
                    } catch {
                        throw Trouble("round \(round) of QUIRE_SEED=\(seed): \(error)")
                    }
                }
                try await drive.quire("check").require(0)
            }
        }

        private static let writers = ["left", "right"]

        /// Lets two writers work for a while, one round in two with a sync beside them, and then kills the daemon.
        private func load(
            _ drive: Drive, in space: Workspace, round: Int, seed: Int, seconds: Double, syncs: Bool
        ) async throws {
            async let ends = withTaskGroup(of: Command.Outcome.self) { group in
                for (number, writer) in Self.writers.enumerated() {
                    let arguments = [
                        "write", "\(drive.mountpoint)/\(writer)", "\(space.root)/\(writer).log",
                        "\((seed % 1000) * 1000 + round * 2 + number)",
                    ]
                    group.addTask { await drive.python("crash_load.py", arguments, limitSeconds: 40).run() }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            async let sync: Command.Outcome? = syncs ? drive.quire("sync", "--timeout", "20") : nil
            try await Task.sleep(for: .seconds(seconds))
            try drive.crash()
            for end in await ends { try end.require(0) }
            _ = await sync
        }

        private func verify(_ drive: Drive, in space: Workspace) async throws {
            for writer in Self.writers {
                let log = "\(space.root)/\(writer).log"
                try await drive.python("crash_load.py", ["verify", "\(drive.mountpoint)/\(writer)", log]).succeed()
            }
            try await drive.sync()
            try await drive.sh("find . -name '.goutputstream-tmp' -delete")
            try await expectProviderMatches(drive)
            // Conflicts need two devices.
            let conflicts = try await drive.json("status")("conflicts").int
            guard conflicts == 0 else { throw Trouble("\(conflicts) conflicts on the only device") }
        }
    }
}

/// SplitMix64: a run can be repeated from its seed.
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
