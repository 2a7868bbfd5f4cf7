package import QuireCore
import Synchronization

/// The one file coordinator of a daemon: who may read and write which items of the drive now.
///
/// Owns a `ClaimTable`. All methods may be called from any thread; all but `acquire` return at once and are safe on a
/// thread that must not block. Waiters are resumed after the lock was dropped.
///
/// A program's plain access through the mount uses `ClaimRequest`s of `Purpose.mount`. While `isActive` is false such
/// an access that ends before the next could matter (an open for reading, unlink, chmod) needs no claim at all; what
/// lasts longer, as a write handle, takes its claim always, so that a later explicit claim waits for it.
package final class Coordinator: Sendable {
    /// The purpose that all plain file access through the mount shares.
    package static let mountPurpose = Purpose.mount

    struct State {
        var table = ClaimTable()
        var nextID: UInt64 = 1
        var waiters: [ClaimID: CheckedContinuation<Result<Claim, CoordinationError>, Never>] = [:]
    }

    /// Innermost: nothing else is locked, called or awaited while it is held.
    private let state = Mutex(State())
    private let active = Atomic<Bool>(false)
    private let occupied = Atomic<Bool>(false)
    let clock: CoordinatorClock

    /// - Parameter clock: for deadlines and ages. The system's stands still while the machine is suspended: whoever holds a
    ///   claim could not give it back then.
    package init(clock: any Clock<Duration> = SuspendingClock()) {
        self.clock = CoordinatorClock(clock)
    }

    /// Whether a claim of another purpose than the mount's is held or waited for. One relaxed atomic load.
    package var isActive: Bool { active.load(ordering: .relaxed) }

    /// Whether any claim is held or waited for, the mount's included: then a rename must be told by `noteMove`. One
    /// relaxed atomic load.
    package var hasClaims: Bool { occupied.load(ordering: .relaxed) }

    /// Grants a claim that nothing is in the way of now.
    /// - Returns: nil where it would have to wait; nothing is kept of the request then.
    /// - Throws: `.deadlock` where waiting would never end, `.invalid`.
    package func tryAcquire(
        _ accesses: [Access], purpose: Purpose, client: ClientID? = nil, processID: Int32? = nil, isNested: Bool? = nil
    ) throws(CoordinationError) -> Claim? {
        let now = clock.now()
        let action = state.withLock { state -> ClaimAction? in
            let request = ClaimRequest(
                id: state.newID(), accesses: accesses, purpose: purpose, client: client, processID: processID,
                isNested: isNested, now: now)
            defer { publish(state) }
            return state.table.tryRequest(request)
        }
        switch action {
        case .grant(let id, let accesses): return Claim(id: id, accesses: accesses)
        case .fail(_, let error): throw error
        case nil: return nil
        }
    }

    /// Ends a claim and lets waiters go on. A second release does nothing.
    package func release(_ claim: Claim) {
        perform { $0.release(claim.id) }
    }

    /// An item was renamed: claims on it and below follow, see `ClaimTable.moved`. Cheap while there are no claims.
    /// - Parameter destinationPackage: the outermost package that holds `to`, where there is one.
    package func noteMove(from: RelativePath, to: RelativePath, destinationPackage: RelativePath? = nil) {
        perform { $0.isEmpty ? [] : $0.moved(from: from, to: to, destinationPackage: destinationPackage) }
    }

    /// Two items swapped places; neither is inside the other.
    package func noteExchange(_ left: RelativePath, _ right: RelativePath) {
        perform { $0.isEmpty ? [] : $0.moved([.init(from: left, to: right), .init(from: right, to: left)]) }
    }

    /// A client is gone: its claims end now, its waiters fail with `.cancelled`.
    package func remove(client: ClientID) {
        perform { $0.removed(client: client) }
    }

    /// All holders and waiters, oldest first.
    package func snapshot() -> [ClaimReport] {
        let now = clock.now()
        return state.withLock { $0.table.reports(now: now) }
    }

    /// Changes the table, then does what it says.
    func perform(_ change: (inout ClaimTable) -> [ClaimAction]) {
        let effects = state.withLock { state in
            let actions = change(&state.table)
            publish(state)
            return state.take(actions)
        }
        for (waiter, result) in effects { waiter.resume(returning: result) }
    }

    /// Enters a request that may wait, with `waiter` to be resumed once. Returns its id.
    func enqueue(
        _ waiter: CheckedContinuation<Result<Claim, CoordinationError>, Never>, _ request: (ClaimID) -> ClaimRequest
    ) -> ClaimID {
        let (id, effects) = state.withLock { state in
            let id = state.newID()
            state.waiters[id] = waiter
            let actions = state.table.request(request(id))
            publish(state)
            return (id, state.take(actions))
        }
        for (waiter, result) in effects { waiter.resume(returning: result) }
        return id
    }

    private func publish(_ state: borrowing State) {
        let isActive = state.table.hasExplicitClaims
        if active.load(ordering: .relaxed) != isActive { active.store(isActive, ordering: .relaxed) }
        let hasClaims = !state.table.isEmpty
        if occupied.load(ordering: .relaxed) != hasClaims { occupied.store(hasClaims, ordering: .relaxed) }
    }
}

extension Coordinator.State {
    mutating func newID() -> ClaimID {
        defer { nextID += 1 }
        return ClaimID(nextID)
    }

    /// The waiters that `actions` answer.
    mutating func take(
        _ actions: [ClaimAction]
    ) -> [(CheckedContinuation<Result<Claim, CoordinationError>, Never>, Result<Claim, CoordinationError>)] {
        actions.compactMap { action in
            switch action {
            case .grant(let id, let accesses):
                waiters.removeValue(forKey: id).map { ($0, .success(Claim(id: id, accesses: accesses))) }
            case .fail(let id, let error):
                waiters.removeValue(forKey: id).map { ($0, .failure(error)) }
            }
        }
    }
}
