/// What a `ClaimTable` keeps of one living request.
struct ClaimRecord {
    /// Where one access is kept: the node of its path, and its role there.
    struct Key {
        let node: Int32
        let lane: LaneKind

        var laneIndex: Int { Int(node) * LaneKind.allCases.count + lane.rawValue }
    }

    enum Phase {
        case free, waiting
        /// `stamp`: the order that the next request got; nested requests from there on are inside this claim.
        case held(stamp: UInt64)
    }

    var id: ClaimID
    /// Rises from request to request; never used twice.
    var order: UInt64
    /// The number of the purpose in the `PurposeBook`.
    var purpose: Int32
    var accesses: [Access]
    var keys: [Key] = []
    var phase = Phase.waiting
    var isNested: Bool
    var client: ClientID?
    var processID: Int32?
    /// Whether others are still to be asked before it is granted.
    var asksFirst: Bool
    /// Whether they are being asked.
    var isAsking = false
    var since: Duration
    var deadline: Duration?

    /// Where it stands in its purpose's list of holders or of nested waiters; -1 where in neither.
    var position: Int32 = -1

    /// The claim whose end makes this one look again; -1 where it does not wait.
    var parkedOn: Int32 = -1
    var firstParked: Int32 = -1
    var nextParked: Int32 = -1
    var previousParked: Int32 = -1

    /// Orders of older waiters that this nested request goes ahead of.
    var overtook: Set<UInt64> = []
    /// Those that went ahead of this one; some may be gone.
    var overtakenBy: [(slot: Int32, order: UInt64)] = []

    var isHeld: Bool {
        if case .held = phase { true } else { false }
    }

    /// Whether a nested request of this order, of the same purpose, was made while this claim was held.
    func encloses(order: UInt64) -> Bool {
        if case .held(let stamp) = phase { stamp <= order } else { false }
    }
}
