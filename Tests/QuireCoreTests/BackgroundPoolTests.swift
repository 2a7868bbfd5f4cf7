import Glibc
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

    @Test(
        "Pieces that a thread keeps for itself are run, and others help where there are several",
        .timeLimit(.minutes(1)))
    func goingOn() async {
        let executor = PoolExecutor(label: "test-pool", width: 3, threadsGoOn: true)
        let gauge = Gauge()
        await withTaskExecutorPreference(executor) {
            for _ in 0..<200 {
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<3 {
                        group.addTask {
                            gauge.enter()
                            usleep(100)
                            gauge.leave()
                        }
                    }
                }
                // One at a time: nobody else is woken for it.
                await Task(executorPreference: executor) {}.value
            }
        }
        #expect(gauge.most == 3)
    }

    @Test("Threads of pools are known as such, and their executor works in place", .timeLimit(.minutes(1)))
    func place() async {
        let pool = BackgroundPool(label: "test-pool", width: 1)
        #expect(await pool.run { BackgroundPool.isHere })
        let executor = PoolExecutor(label: "test-place", width: 2)
        let isSame = await withTaskExecutorPreference(executor) {
            let here = pthread_self()
            return await executor.run { pthread_equal(here, pthread_self()) != 0 }
        }
        #expect(isSame)
    }
}
