import Foundation
import Testing

extension Endurance {
    /// Mixed load on two devices; `soak.py` says what and how it is judged.
    @Suite("Soak")
    struct SoakTests {
        /// `QUIRE_SOAK_MINUTES` chooses a longer run; from ten minutes on growth is judged, before that what is left over.
        @Test(
            "Under mixed load on two devices nothing grows, nothing is left over, nothing is lost",
            .timeLimit(.minutes(720)))
        func mixedLoad() async throws {
            let minutes = Machine.environment("QUIRE_SOAK_MINUTES").flatMap { Double($0) } ?? 0.15
            let seed = Machine.setting("QUIRE_SEED", standard: Int.random(in: 1...1_000_000))
            try await Workspace.use { space in
                let provider = "\(space.root)/provider"
                let one = try await space.mounted("one", provider: provider)
                let two = try await space.mounted("two", provider: provider)
                let table = "\(space.root)/samples"
                let arguments = [
                    "--minutes", "\(minutes)", "--every", minutes < 10 ? "1" : "20", "--seed", "\(seed)",
                    "--table", table, "--quire", Machine.quire, "--stress", Machine.stress,
                    one.home, one.mountpoint, two.home, two.mountpoint,
                ]
                var soak = one.python("soak.py", arguments, limitSeconds: minutes * 60 + 900)
                soak.abortingMountsAt.append(two.mountpoint)
                let outcome = await soak.run()
                print(outcome.output)
                try outcome.require(0)
            }
        }
    }
}
