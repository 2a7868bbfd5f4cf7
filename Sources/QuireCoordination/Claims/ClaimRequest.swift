import QuireCore

/// A wish for all of `accesses` at once.
package struct ClaimRequest: Sendable {
    /// Chosen by who asks; not that of another living request.
    package var id: ClaimID
    /// At least one. Granted together or not at all, so that a caller who batches cannot deadlock.
    package var accesses: [Access]
    package var purpose: Purpose
    /// Whose death ends it; nil for the daemon's own.
    package var client: ClientID?
    /// The process behind it, for `quire coordination`.
    package var processID: Int32?
    /// Whether the caller keeps what its purpose holds now until this request is answered.
    ///
    /// Then the request goes ahead of waiters that wait for those claims, and fails with `.deadlock` where it would
    /// wait for a claim whose holder waits for them. False for requests that have nothing to do with one another.
    package var isNested: Bool
    /// Whether others are asked between the end of the wait and the grant: see `ClaimAction.ready`.
    package var asksFirst = false
    /// When it was made, on the table's clock.
    package var now: Duration
    /// When waiting ends with `.deadline`, on the table's clock; nil waits for ever.
    package var deadline: Duration?

    /// - Parameter isNested: by default true for all purposes but the mount's, whose operations are independent.
    package init(
        id: ClaimID, accesses: [Access], purpose: Purpose, client: ClientID? = nil, processID: Int32? = nil,
        isNested: Bool? = nil, now: Duration = .zero, deadline: Duration? = nil
    ) {
        self.id = id
        self.accesses = accesses
        self.purpose = purpose
        self.client = client
        self.processID = processID
        self.isNested = isNested ?? (purpose != .mount)
        self.now = now
        self.deadline = deadline
    }

    /// Why it cannot be served at all; nil where it can.
    var invalidity: String? {
        if accesses.isEmpty { return "a claim needs at least one item" }
        if purpose.rawValue.isEmpty { return "a purpose identifier is not empty" }
        for access in accesses {
            guard let root = access.packageRoot else { continue }
            if !access.path.isInside(root) { return "\(access.path) is not inside the package \(root)" }
        }
        return nil
    }
}
