import QuireCore
import Synchronization

/// Whether what is left of a round is still worth trying: not once the provider turns out to be gone. Whoever is in the
/// middle of a transfer goes on with it.
final class RoundCourse: Sendable {
    private struct State {
        var end: SyncFailure?
        var isInDoubt = true
        /// See `noteAbsence`.
        var absences: [Kind: Int] = [:]
        var isLooking = false
        /// Steps under way that began before the round gave way, and whether any has begun.
        var early = 0
        var hasBegun = false
        /// See `giveWay`.
        var isWanted = false
        /// See `begin`.
        var givesWay = false

        func isResting(_ kind: Kind) -> Bool { absences[kind] ?? 0 >= RoundCourse.carefully }
    }

    /// What never comes to an end of one kind holds up no other.
    enum Kind: CaseIterable, Sendable {
        /// New directories and moves.
        case structure
        case content
        case deletion
    }

    /// So many are tried at one time before the first has succeeded, and after one has failed.
    private static let carefully = 4

    /// Innermost lock: nothing else is taken while it is held.
    private let state = Lock(State())
    private let looks = AsyncGate()
    private let failures: FailureRun

    /// - Parameter failures: of the rounds before, too.
    init(_ failures: FailureRun = FailureRun()) { self.failures = failures }

    /// Why nothing more is to be tried; nil while it is.
    var end: SyncFailure? { state.withLock { $0.end } }

    /// Nothing more is to be tried.
    func stop(_ failure: SyncFailure) { state.withLock { $0.end = $0.end ?? failure } }

    // MARK: - giving way

    /// When a step began: before the round gave way, or afterwards.
    enum Beginning: Sendable { case early, late }

    /// Whether a step may begin. Once somebody else is to have a turn only what is small may, as long as something is under way
    /// that began before: that is waited for anyway. One step has begun at least.
    ///
    /// - Parameter isWanted: whether somebody is.
    /// - Returns: what `ended` is to be given; nil where the step is left to the next round.
    func begin(isSmall: Bool, isWanted: () -> Bool) -> Beginning? {
        let isWanted = isWanted()
        return state.withLock { state in
            if isWanted || state.isWanted, state.hasBegun { state.givesWay = true }
            state.hasBegun = true
            guard state.givesWay else {
                state.early += 1
                return .early
            }
            return isSmall && state.early > 0 ? .late : nil
        }
    }

    func ended(_ beginning: Beginning) { if beginning == .early { state.withLock { $0.early -= 1 } } }

    /// Somebody else is to have a turn: see `begin`.
    func giveWay() {
        state.withLock { state in
            state.isWanted = true
            state.givesWay = state.hasBegun
        }
    }

    /// Whether that was said.
    var isWanted: Bool { state.withLock { $0.isWanted } }

    /// Whether the round is to end, with what is left.
    var givesWay: Bool { state.withLock { $0.givesWay } }

    // MARK: - failing

    func succeeded(_ kind: Kind) {
        failures.end()
        state.withLock { ($0.isInDoubt, $0.absences[kind]) = (false, nil) }
    }

    /// How many are to be tried at one time, where there may be `most`: a provider that may be of no use is not asked by all
    /// at once.
    func parallelism(_ most: Int) -> Int { state.withLock { $0.isInDoubt } ? min(most, Self.carefully) : most }

    /// Looks at the provider itself; meanwhile nothing more is begun.
    ///
    /// - Parameter body: why the provider as a whole cannot be used; nil where it can.
    func look(_ body: @Sendable () async -> SyncFailure?) async -> SyncFailure? {
        state.withLock { $0.isLooking = true }
        let failure = await looks.run(body)
        state.withLock { $0.isLooking = false }
        if let failure { stop(failure) }
        return failure
    }

    /// Waits while somebody looks at the provider.
    func lookEnds() async {
        guard state.withLock({ $0.isLooking }) else { return }
        await looks.run {}
    }

    /// Notes a step that failed as if the provider were away, which it is not.
    func noteAbsence(_ kind: Kind) { state.withLock { $0.absences[kind, default: 0] += 1 } }

    /// Whether so many of a kind did, one after the other, that a provider that wants to be left alone for a while is: the rest
    /// of them is not tried in this round.
    func isResting(_ kind: Kind) -> Bool { state.withLock { $0.isResting(kind) } }

    /// Whether that is so of any kind.
    var isResting: Bool { state.withLock { state in Kind.allCases.contains { state.isResting($0) } } }

    /// Notes a step that the provider refused; see `FailureRun.note`.
    func failed() -> Bool {
        state.withLock { $0.isInDoubt = true }
        return failures.note()
    }
}
