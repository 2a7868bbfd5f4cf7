/// What a document does to its file, one after the other: a reload never crosses a save.
@MainActor
final class DocumentTurns {
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// Runs `body` when all that was asked for before is done.
    func run<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        if isTaken {
            // Whoever ends hands its turn on, so `isTaken` stays.
            await withCheckedContinuation { waiting.append($0) }
        }
        isTaken = true
        defer {
            if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() }
        }
        return try await body()
    }
}
