import Foundation

/// What a document does to its file, one after the other: a reload never crosses a save.
///
/// Before somebody gets access the drive asks the document, which answers in a turn. A turn that waits for access of its own
/// behind that somebody would hold the answer up: it gives way, and is taken once more after the answer.
@MainActor
final class DocumentTurns {
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []
    /// By which the present turn has, or waits for, access to the file.
    var coordinator: FileCoordinator?
    /// Whether the present turn was asked to give way.
    private var givesWay = false

    /// Runs `body` when all that was asked for before is done.
    func run<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        if isTaken {
            // Whoever ends hands its turn on, so `isTaken` stays.
            await withCheckedContinuation { waiting.append($0) }
        }
        isTaken = true
        givesWay = false
        defer {
            coordinator = nil
            if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() }
        }
        return try await body()
    }

    /// As `run`, once more where the turn gave way.
    func runGivingWay<Value>(_ body: () async throws -> Value) async throws -> Value {
        while true {
            let value: Value? = try await run {
                do {
                    return try await body()
                } catch {
                    guard isGivingWay(error) else { throw error }
                    return nil
                }
            }
            if let value { return value }
        }
    }

    /// The same for what throws nothing.
    ///
    /// - Parameter body: whether it is done; it is not where it gave way.
    func runGivingWay(_ body: () async -> Bool) async {
        while true {
            if await run(body) { return }
        }
    }

    /// Whether what ended the present turn's access is that it gave way.
    func isGivingWay(_ error: any Error) -> Bool {
        givesWay && !Task.isCancelled && (error as? CocoaError)?.code == .userCancelled
    }

    /// Has the present turn give way where it waits for access.
    func giveWay() {
        givesWay = isTaken
        coordinator?.cancel()
    }
}
