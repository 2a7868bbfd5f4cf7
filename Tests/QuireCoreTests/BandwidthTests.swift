import QuireCore
import Testing

@Suite("Bandwidth")
struct BandwidthTests {
    @Test("Without a rate nobody waits, and what has gone is counted")
    func unlimited() async throws {
        let bandwidth = Bandwidth()
        let start = ContinuousClock.now
        try await bandwidth.pass(1 << 40)
        bandwidth.passBlocking(5) { false }
        #expect(ContinuousClock.now - start < .seconds(5))
        #expect(bandwidth.total == (1 << 40) + 5)
        #expect(bandwidth.piece(1 << 20) == 1 << 20)
    }

    @Test("Several transfers together go as fast as one may")
    func shared() async throws {
        let bandwidth = Bandwidth(rate: ByteCount(1_000_000))
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 { group.addTask { for _ in 0..<10 { try await bandwidth.pass(25_000) } } }
            try await group.waitForAll()
        }
        // A megabyte, of which a quarter of a second's worth goes at once.
        #expect(ContinuousClock.now - start >= .milliseconds(740))
    }

    @Test("Who waits is let go when it is cancelled, and when the rate changes")
    func ends() async throws {
        let bandwidth = Bandwidth(rate: ByteCount(1000))
        let waiting = Task { try await bandwidth.pass(1_000_000) }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        bandwidth.passBlocking(1_000_000) { true }
        let patient = Task { try await bandwidth.pass(1_000_000) }
        while bandwidth.total < 3_000_000 { await Task.yield() }
        bandwidth.setRate(nil)
        try await patient.value
    }

    @Test("A slow rate makes small pieces")
    func pieces() {
        #expect(Bandwidth(rate: ByteCount(800_000)).piece(1 << 20) == 100_000)
        #expect(Bandwidth(rate: ByteCount(20_000)).piece(1 << 20) == 16 << 10)
        #expect(Bandwidth(rate: ByteCount(1 << 40)).piece(1 << 20) == 1 << 20)
    }
}
