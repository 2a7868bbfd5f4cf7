import QuireCore

/// What the code that asks for access is inside of: an accessor, or a callback that answers a question.
///
/// It follows tasks, and the calls that a thread makes; work handed to a queue by hand is outside.
struct AccessScope: Sendable {
    enum Kind: Sendable { case reading, writing, preparing }

    let kind: Kind
    let purpose: String

    /// The accessor that runs.
    @TaskLocal static var current: AccessScope?
    /// The purpose of the presenter that is answering a question.
    @TaskLocal static var answering: String?

    /// Runs `body` outside of whatever the caller is inside of: what it begins goes on when that is over.
    static func leaving<Value>(_ body: () -> Value) -> Value {
        $current.withValue(nil) {
            $answering.withValue(nil) { CallerExecutor.$isRunning.withValue(false, operation: body) }
        }
    }

    /// Refuses what would wait for the caller itself.
    ///
    /// Inside a writer's accessor the same purpose may read; inside a preparation's it may do anything. A presenter that is
    /// asked something coordinates with its own purpose.
    static func check(_ kinds: [AccessKind], purpose: String, prepares: Bool) throws(QuireError) {
        if let answering, answering != purpose {
            throw QuireError(
                .usage, "a presenter that is asked something coordinates with another's coordinator",
                remedy:
                    "Use FileCoordinator(filePresenter:) with the presenter itself: others would wait for its answer")
        }
        guard let current else { return }
        let isSame = current.purpose == purpose
        switch current.kind {
        case .preparing where isSame && !prepares: return
        case .writing where isSame && !prepares && kinds.count == 1 && kinds.allSatisfy(\.isReading): return
        case .preparing, .writing, .reading:
            throw QuireError(
                .usage, "access is asked for inside of another access",
                remedy:
                    "Ask for all items in one call, with intents; inside a write only a read by the same coordinator nests"
            )
        }
    }
}
