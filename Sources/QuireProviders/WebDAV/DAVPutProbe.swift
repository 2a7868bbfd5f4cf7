import QuireCore
import Synchronization

/// Whether a PUT is seen only once it is whole: tried with one that stops half way, and is then cut.
struct DAVPutProbe {
    let client: DAVClient
    let path: RelativePath
    /// Another path that may be written.
    let beside: RelativePath

    private static let size = 1 << 16
    /// How long a server gets to show what it does with half a body, at least, and as a multiple of what it takes for a whole
    /// one: it may be busy.
    private static let pause = Duration.milliseconds(150)
    private static let pauses = 10
    /// So many whole bodies it takes in that time, too: one that is held up longer does not get to them, either.
    private static let others = 3

    /// No server gives up waiting for a body sooner.
    private static let leastWait = Duration.seconds(1)

    private static let old = [UInt8](repeating: 0x61, count: size)
    /// All bytes of the half body.
    private static let new: UInt8 = 0x62

    /// - Throws: where the server is in trouble, of which nothing follows.
    func isWhole() async throws(ProviderError) -> Bool {
        let start = ContinuousClock.now
        let first = try await client.put(path, .bytes(Self.old))
        let pause = max(Self.pause, (ContinuousClock.now - start) * Self.pauses)
        guard try proves(first).isSuccess else { return false }
        let begin = ContinuousClock.now
        let (sent, isSent) = AsyncStream.makeStream(of: Void.self)
        let half = Task {
            defer { isSent.finish() }
            let answer = await putHalf { isSent.finish() }
            return answer.map { (answer: $0, at: ContinuousClock.now) }
        }
        defer { half.cancel() }
        // Until it is on its way, or refused.
        for await _ in sent {}
        try await wait(pause)
        guard try await isUntouched() else { return false }
        half.cancel()
        // Refused without a look at it: nothing was tried. A server that has waited for the rest for too long has cut it.
        if let (answer, end) = await half.value, ![408, 504].contains(answer.status) || end - begin < Self.leastWait {
            _ = try proves(answer)
            return false
        }
        try await wait(pause)
        return try await isUntouched()
    }

    /// Whether nothing is to be seen of the half body. To be asked once more, much later: some make a document of what came
    /// once they find that no more does, which takes a busy one longer than anybody would wait for.
    func isUntouched() async throws(ProviderError) -> Bool {
        let seen = try await client.get(path, limit: 4 * Self.size)
        // As long as it was, and not begun anew: it may have come with a wrong byte, and is looked at again.
        guard let seen, seen != Self.old, seen.count == Self.old.count, seen.first != Self.new else {
            return seen == Self.old
        }
        return try await client.get(path, limit: 4 * Self.size) == Self.old
    }

    private func wait(_ pause: Duration) async throws(ProviderError) {
        for _ in 0..<Self.others { _ = try proves(try await client.put(beside, .bytes(Self.old))) }
        try await HTTPFailure.pause(pause)
    }

    /// An answer that is about what was sent.
    private func proves(_ answer: HTTPAnswer) throws(ProviderError) -> HTTPAnswer {
        guard !answer.provesNothing, answer.status != 500 else {
            throw client.transport.error(answer, "the account cannot be tried")
        }
        return answer
    }

    /// Sends half of what it announces, then nothing until it is cancelled.
    ///
    /// - Parameter isSent: called when the half has been passed on.
    /// - Returns: nil where no answer came.
    private func putHalf(_ isSent: @escaping @Sendable () -> Void) async -> HTTPAnswer? {
        let part = [UInt8](repeating: Self.new, count: Self.size)
        let sent = Lock(false)
        let body = HTTPRequest.Body.pieces(length: Int64(2 * Self.size)) {
            if sent.withLock({ was in
                defer { was = true }
                return !was
            }) {
                return part
            }
            isSent()
            try? await Task.sleep(for: .seconds(30))
            return nil
        }
        return try? await client.put(path, body)
    }
}
