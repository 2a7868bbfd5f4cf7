import Synchronization

extension Coordinator {
    /// Waits until the claim is granted.
    ///
    /// Cancelling the task ends the wait with `.cancelled`. Where the grant came first the claim is returned and must
    /// be released all the same.
    /// - Parameters:
    ///   - deadline: how long to wait at most, from now; nil waits for ever.
    ///   - isNested: see `ClaimRequest.isNested`.
    /// - Throws: `.deadline`, `.cancelled`, `.deadlock`, `.invalid`; nothing is held then.
    package func acquire(
        _ accesses: [Access], purpose: Purpose, client: ClientID? = nil, processID: Int32? = nil,
        isNested: Bool? = nil, deadline: Duration? = nil
    ) async throws(CoordinationError) -> Claim {
        let claim = try tryAcquire(
            accesses, purpose: purpose, client: client, processID: processID, isNested: isNested)
        if let claim { return claim }
        let now = clock.now()
        let end = deadline.map { now + $0 }
        return try await wait(until: end) { id in
            ClaimRequest(
                id: id, accesses: accesses, purpose: purpose, client: client, processID: processID, isNested: isNested,
                now: now, deadline: end)
        }.get()
    }

    private func wait(
        until end: Duration?, _ request: @escaping @Sendable (ClaimID) -> ClaimRequest
    ) async -> Result<Claim, CoordinationError> {
        guard let end else { return await wait(request) }
        return await withTaskGroup(of: Result<Claim, CoordinationError>?.self) { group in
            group.addTask { await self.wait(request) }
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

    private func wait(_ request: (ClaimID) -> ClaimRequest) async -> Result<Claim, CoordinationError> {
        let entered = Mutex<ClaimID?>(nil)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let id = enqueue(waiter, request)
                entered.withLock { $0 = id }
                // The handler ran before there was an id where the task was cancelled before this line.
                if Task.isCancelled { perform { $0.cancel(id) } }
            }
        } onCancel: {
            if let id = entered.withLock({ $0 }) { perform { $0.cancel(id) } }
        }
    }
}
