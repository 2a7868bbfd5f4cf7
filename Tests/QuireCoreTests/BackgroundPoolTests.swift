import Synchronization
import Testing

@testable import QuireCore

@Suite("Work in the background")
struct BackgroundPoolTests {
    private struct Refused: Error, Equatable {}

    /// How many are at work.
    private final class Gauge: Sendable {
        private let counts = Lock((now: 0, most: 0))

        func enter() { counts.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) } }
        func leave() { counts.withLock { $0.now -= 1 } }
        var most: Int { counts.withLock { $0.most } }
    }

    @Test("Everything is run, at most so many at a time", .timeLimit(.minutes(1)))
    func width() async {
        let pool = BackgroundPool(label: "test-pool", width: 3)
        let gauge = Gauge()
        let sum = await withTaskGroup(of: Int.self) { group in
            for number in 1...500 {
                group.addTask {
                    await pool.run {
                        gauge.enter()
                        defer { gauge.leave() }
                        return number
                    }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(sum == 500 * 501 / 2)
        #expect(gauge.most <= 3)
    }

    @Test("With one thread, work begins in the order in which it came", .timeLimit(.minutes(1)))
    func order() async {
        let pool = BackgroundPool(label: "test-pool", width: 1)
        let seen = Lock<[Int]>([])
        for number in 0..<2000 { pool.submit { seen.withLock { $0.append(number) } } }
        await pool.run {}
        #expect(seen.withLock { $0 } == Array(0..<2000))
    }

    @Test("An error of the work is the caller's", .timeLimit(.minutes(1)))
    func failure() async {
        let pool = BackgroundPool(label: "test-pool", width: 1)
        await #expect(throws: Refused()) { try await pool.run { () throws(Refused) in throw Refused() } }
    }

    @Test("Tasks run on the background executor and come back", .timeLimit(.minutes(1)))
    func executor() async {
        let sum = await withTaskExecutorPreference(PoolExecutor.background) {
            await withTaskGroup(of: Int.self) { group in
                for number in 1...100 { group.addTask { number } }
                return await group.reduce(0, +)
            }
        }
        #expect(sum == 5050)
    }
}
