package import QuireCore

/// File coordination as a whole: claims, and the presenters that are asked before a claim is granted and told afterwards.
///
///     request ─▶ waits for claims ─▶ asks presenters ─▶ held ─▶ release: did-change, reacquire
///                                     │         ▲
///                            relinquish, save,  └ a presenter's own request (its purpose, or plain access of its
///                            accommodate          process) goes ahead of the one that asks
///
/// One question is with a presenter at a time; what else it is to be asked waits behind. A question that is not answered
/// in time is passed over, and its presenter with it until it answers.
///
/// Who is asked and told what, and in which order: Documentation/Semantics.md, "Coordination". A value: no clock, no lock,
/// no callback; `Coordinator` owns one.
package struct CoordinationMachine {
    /// Which directories are one document.
    package let packages: PackageNames
    var table = ClaimTable()
    var book = PresenterBook()
    var negotiations: [ClaimID: Negotiation] = [:]
    var questions: [QuestionID: PresenterID] = [:]
    var nextQuestion: UInt64 = 1

    package init(packages: PackageNames = PackageNames()) { self.packages = packages }

    /// Whether nothing is held, nobody waits, and no presenter is registered.
    package var isEmpty: Bool { table.isEmpty && book.isEmpty && negotiations.isEmpty }

    /// Whether a program's plain access may have to wait: there are presenters, or claims of apps.
    package var isActive: Bool { table.hasExplicitClaims || !book.isEmpty }

    /// Whether any claim of another purpose than the mount's is held or waited for.
    package var hasExplicitClaims: Bool { table.hasExplicitClaims }

    /// Whether any claim is held or waited for.
    package var hasClaims: Bool { !table.isEmpty }

    /// Whether `id` is registered.
    package func isRegistered(_ id: PresenterID) -> Bool { book.entries[id] != nil }

    /// Whether anybody presents the item at `path`, one above it or one below.
    package func concernsPresenters(_ path: RelativePath) -> Bool { book.hasAny(around: path) }

    /// Whether somebody is to be told of changes.
    package var hasPresenters: Bool { !book.isEmpty }

    // MARK: Claims

    /// Enters a request: it is granted, fails, or waits. `packageRoot` of its accesses is filled in here.
    package mutating func request(_ request: AccessRequest) -> [CoordinationAction] {
        var request = request
        fillPackages(&request.claim)
        let id = request.claim.id
        var out: [CoordinationAction] = []
        guard negotiations[id] == nil else {
            return [.fail(id, CoordinationError(.invalid(reason: "\(id) is in use")))]
        }
        if request.isPreparation {
            prepare(request, &out)
            return out
        }
        let concerns =
            !book.isEmpty && !request.asksNobody && request.claim.accesses.contains { book.hasAny(around: $0.path) }
        if concerns || request.asksMount {
            request.claim.asksFirst = true
            negotiations[id] = Negotiation(request)
        }
        absorb(table.request(request.claim), &out)
        return out
    }

    /// Grants a program's plain access where nobody must be asked and nothing is in the way.
    /// - Returns: nil where it would have to wait; nothing is kept of it then.
    package mutating func tryRequest(_ request: ClaimRequest) -> CoordinationAction? {
        var request = request
        fillPackages(&request)
        guard !mustAsk(request.accesses, except: request.processID) else { return nil }
        switch table.tryRequest(request) {
        case .grant(let id, let accesses): return .grant(id, accesses)
        case .fail(let id, let error): return .fail(id, error)
        case .ready, nil: return nil
        }
    }

    /// The part of `accesses` that a process does not have by claims of its own.
    package func uncovered(_ accesses: [Access], process: Int32) -> [Access] {
        guard table.hasExplicitClaims else { return accesses }
        return accesses.filter { access in
            var access = access
            access.packageRoot = packages.root(of: access.path)
            return !table.covers(access, process: process)
        }
    }

    /// Ends a claim that is held, or a preparation. Unknown ids and waiters are left alone.
    package mutating func release(_ id: ClaimID) -> [CoordinationAction] {
        var out: [CoordinationAction] = []
        guard let negotiation = negotiations[id] else { return released(id) }
        if negotiation.preparation != nil {
            end(id, &out)
            return out
        }
        guard let accesses = table.isHeld(id) ? table.accesses(of: id) : nil else { return out }
        if negotiation.purpose != .mount { tellWritten(accesses, except: .of(negotiation.presenter), &out) }
        end(id, &out)
        absorb(table.release(id), &out)
        return out
    }

    /// Ends a claim for which nobody was asked.
    private mutating func released(_ id: ClaimID) -> [CoordinationAction] {
        var out: [CoordinationAction] = []
        absorb(table.release(id), &out)
        return out
    }

    /// Ends a request that waits or asks, with `.cancelled`. Unknown ids and holders are left alone.
    package mutating func cancel(_ id: ClaimID) -> [CoordinationAction] {
        var out: [CoordinationAction] = []
        if negotiations[id]?.preparation != nil, negotiations[id]?.isHeld == false {
            end(id, &out)
            out.append(.fail(id, CoordinationError(.cancelled)))
        } else {
            absorb(table.cancel(id), &out)
        }
        return out
    }

    /// No program writes any more to what `id` is for.
    package mutating func mountIsQuiet(_ id: ClaimID) -> [CoordinationAction] {
        var out: [CoordinationAction] = []
        if negotiations[id]?.asksMount == true { settle(id, [], &out) }
        return out
    }

    /// Ends the waiters whose deadline is not after `now`.
    package mutating func expire(now: Duration) -> [CoordinationAction] {
        var out: [CoordinationAction] = []
        absorb(table.expire(now: now), &out)
        return out
    }

    /// A client is gone: its claims, waiters and presenters go now.
    package mutating func removed(client: ClientID) -> [CoordinationAction] {
        var out: [CoordinationAction] = []
        // Its presenters first, so that they are not asked; but nobody is granted anything before all of it is gone.
        let waiting = (book.clients[client] ?? []).sorted().flatMap { takeOut($0) }
        // What it held for writing may have been written.
        for id in (table.clients[client] ?? []).sorted() where table.isHeld(id) {
            if let negotiation = negotiations[id], negotiation.purpose != .mount {
                tellWritten(table.accesses(of: id) ?? [], except: .of(negotiation.presenter), &out)
            }
            end(id, &out)
        }
        absorb(table.removed(client: client), &out)
        // One of its waiters may have been granted for a moment, when another went.
        for id in negotiations.filter({ $0.value.client == client }).keys.sorted() { end(id, &out) }
        for (claim, respondents) in waiting { settle(claim, respondents, &out) }
        return out
    }

    private func fillPackages(_ claim: inout ClaimRequest) {
        for index in claim.accesses.indices where claim.accesses[index].packageRoot == nil {
            claim.accesses[index].packageRoot = packages.root(of: claim.accesses[index].path)
        }
    }

    // MARK: What the table says

    mutating func absorb(_ actions: [ClaimAction], _ out: inout [CoordinationAction]) {
        for action in actions {
            switch action {
            case .grant(let id, let accesses):
                negotiations[id]?.isHeld = true
                out.append(.grant(id, accesses))
            case .fail(let id, let error):
                end(id, &out)
                out.append(.fail(id, error))
            case .ready(let id, let accesses): startAsking(id, accesses, &out)
            }
        }
    }

    /// Forgets what was kept of a request, and lets the presenters that gave way go on.
    mutating func end(_ id: ClaimID, _ out: inout [CoordinationAction]) {
        guard let negotiation = negotiations.removeValue(forKey: id) else { return }
        for presenter in negotiation.asked {
            book.entries[presenter]?.backlog.removeAll { $0.claim == id }
            book.entries[presenter]?.gaveWayTo[id] = nil
        }
        for given in negotiation.reacquirers { tell(given.presenter, .reacquire(given.question), &out) }
    }
}

extension Negotiation {
    init(_ request: AccessRequest) {
        self.init(
            purpose: request.claim.purpose, client: request.claim.client, processID: request.claim.processID,
            presenter: request.presenter, timeout: request.questionTimeout, asksMount: request.asksMount,
            preparation: request.isPreparation ? request.claim.accesses : nil)
    }
}
