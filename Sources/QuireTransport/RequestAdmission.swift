import QuireCore

/// What a request is to the other requests of its client.
package enum RequestLane: Sendable {
    /// Work: so much at one time, and the rest begins, in order, as that ends.
    case work
    /// Asks for access, or registers a presenter: others wait for what the client does with it, so it does not wait for work.
    case claims
    /// Goes on until it is taken back, so nothing can wait for its end.
    case queries
}

/// Which requests of one client are begun, and which wait for that: a value under its owner's lock.
struct RequestAdmission: Sendable {
    enum Decision: Sendable {
        case begin
        /// Until `ended` or `takeBack` says otherwise.
        case wait
        case refuse(QuireError)
    }

    private let workLimit: Int
    private let waitingLimit: Int
    private var begun: [RPCIdentifier: RequestLane] = [:]
    private var counts: [RequestLane: Int] = [:]
    /// Work that waits, by its place in the order; those taken back have none any more.
    private var waiting: [UInt64: RPCIncoming] = [:]
    private var places: [RPCIdentifier: UInt64] = [:]
    /// The first place that may be taken, and the next to give out.
    private var first: UInt64 = 0
    private var next: UInt64 = 0
    private var waitingBytes = 0

    init(workLimit: Int, waitingLimit: Int) {
        self.workLimit = workLimit
        self.waitingLimit = waitingLimit
    }

    /// Whether a request waits to be begun.
    var hasWaiting: Bool { !waiting.isEmpty }

    /// Decides about a request that has just come.
    mutating func admit(_ request: RPCIncoming, _ lane: RequestLane) -> Decision {
        guard counts[lane, default: 0] >= limit(of: lane) else {
            begin(request, lane)
            return .begin
        }
        guard lane == .work, waiting.count < waitingLimit,
            waitingBytes + request.line.count <= WireLimits.waitingBytes
        else { return .refuse(refusal(of: lane)) }
        waiting[next] = request
        places[request.id] = next
        next += 1
        waitingBytes += request.line.count
        return .wait
    }

    /// A request was answered.
    ///
    /// - Returns: the one that begins in its place.
    mutating func ended(_ id: RPCIdentifier) -> RPCIncoming? {
        guard let lane = begun.removeValue(forKey: id) else { return nil }
        counts[lane, default: 0] -= 1
        guard lane == .work else { return nil }
        while first < next {
            defer { first += 1 }
            guard let request = waiting[first] else { continue }
            leave(request.id)
            begin(request, lane)
            return request
        }
        return nil
    }

    /// Takes back a request that waits; false where it does not.
    mutating func takeBack(_ id: RPCIdentifier) -> Bool { leave(id) }

    /// Nobody waits for an answer any more.
    mutating func forgetWaiting() {
        waiting = [:]
        places = [:]
        waitingBytes = 0
    }

    private func limit(of lane: RequestLane) -> Int {
        switch lane {
        case .work: workLimit
        case .claims: WireLimits.claimsPerClient
        case .queries: WireLimits.queriesPerClient
        }
    }

    private func refusal(of lane: RequestLane) -> QuireError {
        let bytes = ByteCount(Int64(WireLimits.waitingBytes))
        let most =
            switch lane {
            case .work: "\(waitingLimit) requests of one client wait at the most, or \(bytes) of them"
            case .claims: "\(limit(of: lane)) requests of one client for access wait at the most"
            case .queries: "\(limit(of: lane)) queries of one client run at the most"
            }
        return QuireError(.busy, "\(most), and there are as many", remedy: "Ask again when one of them has ended")
    }

    private mutating func begin(_ request: RPCIncoming, _ lane: RequestLane) {
        begun[request.id] = lane
        counts[lane, default: 0] += 1
    }

    @discardableResult
    private mutating func leave(_ id: RPCIdentifier) -> Bool {
        guard let place = places.removeValue(forKey: id), let request = waiting.removeValue(forKey: place) else {
            return false
        }
        waitingBytes -= request.line.count
        return true
    }
}
