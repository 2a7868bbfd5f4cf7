import Dispatch
import QuireCore
import Synchronization
import Testing

@testable import QuireFilesystem

@Suite("Who of the readers reads")
struct ReaderRelayTests {
    /// Runs `body` on a thread of its own and returns what it returns.
    private static func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            let thread = OwnedThread(name: "test-reader") { continuation.resume(returning: body()) }
            precondition(thread != nil, "no thread can be started")
        }
    }

    @Test("The first reads at once, and goes on reading after each request", .timeLimit(.minutes(1)))
    func first() async {
        let relay = ReaderRelay()
        #expect(await Self.onThread { relay.waitForTurn(0) })
        for _ in 0..<100 {
            relay.begin()
            #expect(relay.end(0))
        }
        relay.stop()
    }

    @Test("Where a request takes long another reads, and who was held up stands by", .timeLimit(.minutes(1)))
    func takesOver() async {
        let relay = ReaderRelay()
        #expect(relay.waitForTurn(0))
        relay.begin()
        // Returns only once it was seen that the request takes long.
        #expect(await Self.onThread { relay.waitForTurn(1) })
        #expect(!relay.end(0))
        relay.begin()
        #expect(relay.end(1))
        relay.stop()
    }

    @Test("It is taken over as often as it needs, also after a rest", .timeLimit(.minutes(1)))
    func again() async {
        let relay = ReaderRelay()
        #expect(relay.waitForTurn(0))
        async let second = Self.onThread { relay.waitForTurn(1) }
        relay.begin()
        #expect(relay.end(0))
        // The watcher may sleep by now, or not yet: either way it has to see this one.
        relay.begin()
        #expect(await second)
        #expect(!relay.end(0))
        async let third = Self.onThread { relay.waitForTurn(0) }
        relay.begin()
        #expect(await third)
        #expect(!relay.end(1))
        relay.stop()
    }

    @Test("When reading is over nobody waits any more", .timeLimit(.minutes(1)))
    func stops() async {
        let relay = ReaderRelay()
        async let watcher = Self.onThread { relay.waitForTurn(1) }
        async let other = Self.onThread { relay.waitForTurn(2) }
        relay.stop()
        #expect(await !watcher)
        #expect(await !other)
    }
}
