import QuireCore
import Synchronization

/// How a claim is asked for, beside what for.
package struct AcquireOptions: Sendable {
    /// Whose death ends it.
    package var client: ClientID?
    package var processID: Int32?
    /// See `ClaimRequest.isNested`.
    package var isNested: Bool?
    /// How long to wait at most, from now; nil waits for ever.
    package var deadline: Duration?
    /// The presenter that the caller's coordinator was made with.
    package var presenter: PresenterID?
    /// See `AccessRequest.isPreparation`.
    package var isPreparation = false
    /// Whether presenters are left alone: only claims are waited for.
    package var asksNobody = false
    /// How long a presenter may take for one question.
    package var questionTimeout = Duration.seconds(5)

    package init(client: ClientID? = nil, processID: Int32? = nil, isNested: Bool? = nil, deadline: Duration? = nil) {
        self.client = client
        self.processID = processID
        self.isNested = isNested
        self.deadline = deadline
    }
}

extension Coordinator {
    /// Waits until the claim is granted.
    package func acquire(
        _ accesses: [Access], purpose: Purpose, client: ClientID? = nil, processID: Int32? = nil,
        isNested: Bool? = nil, deadline: Duration? = nil
    ) async throws(CoordinationError) -> Claim {
        try await acquire(
            accesses, purpose: purpose,
            AcquireOptions(client: client, processID: processID, isNested: isNested, deadline: deadline))
    }

    /// Waits until the claim is granted: for other claims, then for presenters.
    ///
    /// Cancelling the task ends the wait with `.cancelled`. Where the grant came first the claim is returned and must
    /// be released all the same.
    /// - Throws: `.deadline`, `.cancelled`, `.deadlock`, `.refused`, `.invalid`; nothing is held then.
    package func acquire(
        _ accesses: [Access], purpose: Purpose, _ options: AcquireOptions
    ) async throws(CoordinationError) -> Claim {
        let now = clock.now()
        let end = options.deadline.map { now + $0 }
        let announces = announce(purpose) ?? false
        let asksMount = purpose != .mount && !options.isPreparation && mountIsWriting
        let (id, outcome) = enter(announced: announces) { id in
            var request = AccessRequest(
                ClaimRequest(
                    id: id, accesses: accesses, purpose: purpose, client: options.client,
                    processID: options.processID, isNested: options.isNested, now: now, deadline: end))
            request.presenter = options.presenter
            request.isPreparation = options.isPreparation
            request.asksMount = asksMount
            request.asksNobody = options.asksNobody
            request.questionTimeout = options.questionTimeout
            return request
        }
        if let outcome { return try outcome.get() }
        return try await wait(for: id, until: end).get()
    }

    /// Grants the claim where no claim is in the way and no presenter is to be asked: as `acquire`, without waiting.
    /// - Returns: nil where somebody must be waited for or asked; nothing is kept of the request then.
    /// - Throws: `.deadlock`, `.invalid`.
    package func acquireAtOnce(
        _ accesses: [Access], purpose: Purpose, _ options: AcquireOptions
    ) throws(CoordinationError) -> Claim? {
        guard let announces = announce(purpose, waiting: false) else { return nil }
        defer { if announces { endAnnouncement() } }
        guard !mountIsWriting, !accesses.contains(where: { concernsPresenters($0.path) }) else { return nil }
        return try tryAcquire(
            accesses, purpose: purpose, client: options.client, processID: options.processID, isNested: options.isNested
        )
    }

    /// Enters a request. Its outcome where it is known at once; otherwise somebody must `wait`.
    private func enter(announced: Bool, _ make: (ClaimID) -> AccessRequest) -> (ClaimID, Outcome?) {
        let (id, outcome, delivers) = state.withLock { state -> (ClaimID, Outcome?, Bool) in
            if announced { state.endAnnouncement() }
            let id = state.newID()
            state.waiters[id] = .expected
            let actions = state.machine.request(make(id))
            publish(state)
            state.add(actions)
            guard case .known(let outcome) = state.waiters[id] else { return (id, nil, state.mustDeliver()) }
            state.waiters[id] = nil
            return (id, outcome, state.mustDeliver())
        }
        if delivers { deliver() }
        return (id, outcome)
    }

    private func wait(for id: ClaimID, until end: Duration?) async -> Outcome {
        guard let end else { return await wait(for: id) }
        return await withTaskGroup(of: Outcome?.self) { group in
            group.addTask { await self.wait(for: id) }
            group.addTask {
                // The sleep fails only when the wait is over or cancelled; then there is nothing to expire.
                guard (try? await self.clock.sleep(end)) != nil else { return nil }
                self.perform { $0.expire(now: end) }
                return nil
            }
            for await result in group {
                guard let result else { continue }
                group.cancelAll()
                return result
            }
            return .failure(CoordinationError(.cancelled))
        }
    }

    private func wait(for id: ClaimID) async -> Outcome {
        await withTaskCancellationHandler {
            // A task that is cancelled already has run the handler before.
            if Task.isCancelled { perform { $0.cancel(id) } }
            return await withCheckedContinuation { continuation in
                let known = state.withLock { state -> Outcome? in
                    if case .known(let outcome) = state.waiters[id] {
                        state.waiters[id] = nil
                        return outcome
                    }
                    state.waiters[id] = .waiting(continuation)
                    return nil
                }
                if let known { continuation.resume(returning: known) }
            }
        } onCancel: {
            perform { $0.cancel(id) }
        }
    }
}
