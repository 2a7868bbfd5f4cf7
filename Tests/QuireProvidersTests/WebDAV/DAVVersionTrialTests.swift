import QuireCore
import QuireTestSupport
import Testing

@testable import QuireProviders

@Suite("What writes prove of a server's versions")
struct DAVVersionTrialTests {
    /// Notes twelve writes one after the other, as the probe does at most.
    ///
    /// - Parameters:
    ///   - pauses: how long each takes, in seconds.
    ///   - version: of a write, by its number, and by the second since the first began in which it is made.
    /// - Returns: what each one has proved.
    private static func told(
        _ pauses: [Double], _ version: (_ number: Int, _ second: Double) -> ProviderVersion
    ) -> [Bool?] {
        let start = ContinuousClock.now
        var trial = DAVVersionTrial()
        var second = 0.0
        return pauses.enumerated().map { number, pause in
            let begin = start + .seconds(second)
            let version = version(number, second + pause / 2)
            second += pause
            trial.note(version, from: begin, to: start + .seconds(second))
            return trial.isTimeBased
        }
    }

    @Test("Versions made of size and second are never taken for others, also where the server's clock is set meanwhile")
    func seconds() {
        for seed in 0..<3000 as Range<UInt64> {
            var random = SeededRandom(seed: seed)
            let most = [0.02, 0.2, 0.7, 2.0][Int(seed % 4)]
            let pauses = (0..<12).map { _ in Double.random(in: 0.001...most, using: &random) }
            let phase = Double.random(in: 0..<1, using: &random)
            let leap = Int.random(in: 0..<24, using: &random)
            let told = Self.told(pauses) { number, second in
                ProviderVersion("\(Int(second + phase + (number > leap ? 1 : 0)))")
            }
            #expect(!told.contains(false), "seed \(seed)")
            if most < 1 { #expect(told.last == true, "seed \(seed)") }
        }
    }

    @Test("Other versions are known as such where a write takes less than three quarters of a second")
    func others() {
        for seed in 0..<300 as Range<UInt64> {
            var random = SeededRandom(seed: seed)
            let pauses = (0..<12).map { _ in Double.random(in: 0.001...0.74, using: &random) }
            #expect(Self.told(pauses) { number, _ in ProviderVersion("\(number)") }.last == false, "seed \(seed)")
        }
        let told = Self.told([Double](repeating: 0.01, count: 4)) { number, _ in ProviderVersion("\(number)") }
        #expect(told == [nil, nil, nil, false])
    }

    @Test("Nothing is proved by different versions of writes that take a second")
    func slow() {
        let told = Self.told([Double](repeating: 1, count: 12)) { number, _ in ProviderVersion("\(number)") }
        #expect(told.allSatisfy { $0 == nil })
    }
}
