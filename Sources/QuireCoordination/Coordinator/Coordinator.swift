package import QuireCore
import Synchronization

/// The one file coordinator of a daemon: who may read and write which items of the drive now, and which presenters are
/// asked before and told afterwards.
///
/// Owns a `CoordinationMachine` and does what it says. All methods may be called from any thread; all but `acquire` return
/// at once and are safe on a thread that must not block. Waiters are resumed and presenters called after the lock was
/// dropped, in the order in which the machine said it.
///
/// A program's plain access through the mount has `Purpose.mount`. While `isActive` is false it needs no claim: nobody
/// registered, no claim but the mount's. Beside presenters of other items a short one goes on by a `Pass`.
package final class Coordinator: Sendable {
    private struct Writers {
        weak var mount: (any MountWriters)?
    }

    /// Innermost: nothing else is locked, called or awaited while it is held.
    let state: Lock<State>
    private let active = Atomic<Bool>(false)
    private let occupied = Atomic<Bool>(false)
    private let presented = Atomic<Bool>(false)
    private let explicit = Atomic<Bool>(false)
    /// Counts what ends passes.
    let passes = Atomic<UInt64>(0)
    private let writers = Lock(Writers())
    let clock: CoordinatorClock

    /// - Parameters:
    ///   - packages: which directories are one document.
    ///   - clock: for deadlines and ages. The system's stands still while the machine is suspended: whoever holds a claim
    ///     could not give it back then.
    package init(packages: PackageNames = PackageNames(), clock: any Clock<Duration> = SuspendingClock()) {
        state = Lock(State(machine: CoordinationMachine(packages: packages)))
        self.clock = CoordinatorClock(clock)
    }

    /// Whether there are presenters, or claims of another purpose than the mount's, held or waited for. One relaxed atomic
    /// load.
    package var isActive: Bool { active.load(ordering: .relaxed) }

    /// Whether any claim is held or waited for, the mount's included. One relaxed atomic load.
    package var hasClaims: Bool { occupied.load(ordering: .relaxed) }

    /// Whether any claim of another purpose than the mount's is held or waited for. One relaxed atomic load.
    package var hasExplicitClaims: Bool { explicit.load(ordering: .relaxed) }

    /// Whether somebody is to be told of changes. One relaxed atomic load.
    package var hasPresenters: Bool { presented.load(ordering: .relaxed) }

    /// Names the mount, whose programs may be writing before an app asks for a claim.
    package func attach(mount: some MountWriters) { writers.withLock { $0.mount = mount } }

    // MARK: Claims

    /// Grants a claim that nothing is in the way of now, and that no presenter must be asked for.
    /// - Returns: nil where it would have to wait; nothing is kept of the request then.
    /// - Throws: `.deadlock` where waiting would never end, `.invalid`.
    package func tryAcquire(
        _ accesses: [Access], purpose: Purpose, client: ClientID? = nil, processID: Int32? = nil, isNested: Bool? = nil
    ) throws(CoordinationError) -> Claim? {
        let now = clock.now()
        let action = state.withLock { state -> CoordinationAction? in
            let request = ClaimRequest(
                id: state.newID(), accesses: accesses, purpose: purpose, client: client, processID: processID,
                isNested: isNested, now: now)
            defer { publish(state) }
            return state.machine.tryRequest(request)
        }
        switch action {
        case .grant(let id, let accesses): return Claim(id: id, accesses: accesses)
        case .fail(_, let error): throw error
        case .ask, .tell, .askMount, .hung, nil: return nil
        }
    }

    /// The part of `accesses` that the process does not have by claims that it holds.
    package func uncovered(_ accesses: [Access], process: Int32) -> [Access] {
        state.withLock { $0.machine.uncovered(accesses, process: process) }
    }

    /// Ends a claim and lets waiters go on. A second release does nothing.
    package func release(_ claim: Claim) { release(claim.id) }

    /// The same by its id.
    package func release(_ id: ClaimID) {
        perform { $0.release(id) }
    }

    /// The same for a claim of an app, after presenters were told what it did on the mount meanwhile.
    package func releaseInOrder(_ id: ClaimID) {
        guard let mount = writers.withLock({ $0.mount }) else { return release(id) }
        mount.inOrder { [self] in release(id) }
    }

    /// A client is gone: its claims and presenters end now, its waiters fail with `.cancelled`.
    package func remove(client: ClientID) {
        perform { $0.removed(client: client) }
        state.withLock { state in
            state.links = state.links.filter { state.machine.isRegistered($0.key) }
        }
    }

    /// All holders and waiters, oldest first.
    package func snapshot() -> [ClaimReport] {
        let now = clock.now()
        return state.withLock { $0.machine.claimReports(now: now) }
    }

    // MARK: Carrying out

    /// Changes the machine, then does what it says.
    func perform(_ change: (inout CoordinationMachine) -> [CoordinationAction]) {
        let delivers = state.withLock { state in
            let actions = change(&state.machine)
            publish(state)
            state.add(actions)
            return state.mustDeliver()
        }
        if delivers { deliver() }
    }

    /// Carries effects out until none is left. By one thread at a time.
    func deliver() {
        while true {
            let effects = state.withLock { state -> [Effect] in
                defer { state.effects = [] }
                if state.effects.isEmpty { state.isDelivering = false }
                return state.effects
            }
            if effects.isEmpty { return }
            for effect in effects { carryOut(effect) }
        }
    }

    private func carryOut(_ effect: Effect) {
        switch effect {
        case .resume(let waiter, let outcome): waiter.resume(returning: outcome)
        case .ask(let link, let id, let presenter, let question, let timeout):
            let end = clock.now() + timeout
            // Made under the lock: whoever ends it finds it there.
            state.withLock { state in
                state.timers[id] = Task { [self] in
                    // Cancelled when it is answered.
                    guard (try? await clock.sleep(end)) != nil else { return }
                    self.state.withLock { _ = $0.timers.removeValue(forKey: id) }
                    perform { $0.timedOut(id) }
                }
            }
            link.ask(id, of: presenter, question, timeout: timeout)
        case .tell(let link, let presenter, let message): link.tell(presenter, message)
        case .passedOver(let link, let presenter, let question): link.passedOver(presenter, question)
        case .askMount(let id, let accesses, let process):
            guard let writers = writers.withLock({ $0.mount }) else { return perform { $0.mountIsQuiet(id) } }
            state.withLock { state in
                state.mountTasks[id] = Task { [self] in
                    await writers.untilQuiet(accesses, except: process)
                    self.state.withLock { _ = $0.mountTasks.removeValue(forKey: id) }
                    perform { $0.mountIsQuiet(id) }
                }
            }
        case .cancel(let task): task.cancel()
        }
    }

    /// Waits for what programs of the mount are in the middle of. With nothing locked.
    func finishOperations() { writers.withLock { $0.mount }?.finishOperations() }

    /// Whether they are in the middle of nothing: then there is nothing to wait for.
    var isMountIdle: Bool { writers.withLock { $0.mount }?.isIdle ?? true }

    /// Whether programs may be writing through handles that have no claim.
    var mountIsWriting: Bool { writers.withLock { $0.mount }?.isWriting ?? false }

    func publish(_ state: borrowing State) {
        set(active, state.machine.isActive || state.announced > 0)
        set(occupied, state.machine.hasClaims)
        set(presented, state.machine.hasPresenters)
        set(explicit, state.machine.hasExplicitClaims)
    }

    private func set(_ flag: borrowing Atomic<Bool>, _ value: Bool) {
        if flag.load(ordering: .relaxed) != value { flag.store(value, ordering: .relaxed) }
    }
}

extension Coordinator.State {
    /// Whether the caller is to carry effects out; somebody else does otherwise.
    mutating func mustDeliver() -> Bool {
        guard !isDelivering, !effects.isEmpty else { return false }
        isDelivering = true
        return true
    }
}
