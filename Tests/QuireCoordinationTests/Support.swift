import QuireCoordination
import QuireCore

/// SplitMix64: the same numbers for the same seed, everywhere.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

extension ClaimTable {
    /// Enters a request of its own purpose unless one is given; returns the ids that were granted and failed by it.
    mutating func ask(
        _ id: UInt64, _ accesses: Access..., purpose: String? = nil, nested: Bool? = nil, client: UInt64? = nil,
        deadline: Duration? = nil
    ) -> [ClaimAction] {
        request(
            ClaimRequest(
                id: ClaimID(id), accesses: accesses, purpose: Purpose(purpose ?? "purpose \(id)"),
                client: client.map(ClientID.init), isNested: nested, deadline: deadline))
    }

    func holds(_ id: UInt64) -> Bool { isHeld(ClaimID(id)) }

    func waits(_ id: UInt64) -> Bool { !isHeld(ClaimID(id)) && accesses(of: ClaimID(id)) != nil }

    func path(_ id: UInt64) -> RelativePath? { accesses(of: ClaimID(id))?.first?.path }

    mutating func release(_ id: UInt64) -> [ClaimAction] { release(ClaimID(id)) }

    mutating func cancel(_ id: UInt64) -> [ClaimAction] { cancel(ClaimID(id)) }
}

extension [ClaimAction] {
    var granted: [UInt64] {
        compactMap { action in
            if case .grant(let id, _) = action { id.rawValue } else { nil }
        }
    }

    var failed: [UInt64] {
        compactMap { action in
            if case .fail(let id, _) = action { id.rawValue } else { nil }
        }
    }

    var codes: [CoordinationError.Code] {
        compactMap { action in
            if case .fail(_, let error) = action { error.code } else { nil }
        }
    }
}

/// The path that `text` names.
func item(_ text: String) -> RelativePath { RelativePath(stringLiteral: text) }
