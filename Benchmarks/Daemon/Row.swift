import Glibc

/// One measurement and its limit.
struct Row {
    let name: String
    let value: Double
    let unit: String
    let limit: Double

    var isMissed: Bool { value > limit }

    var line: String {
        let shown = (value * 100).rounded() / 100
        return "| \(name) | \(shown) | \(unit) | \(limit) | \(isMissed ? "MISSED" : "ok") |"
    }
}

/// The least of several times, in nanoseconds.
func best(of rounds: Int, _ body: () throws -> Void) rethrows -> Double {
    var least = Double.infinity
    for _ in 0..<rounds { least = min(least, try time(body)) }
    return least
}

/// Nanoseconds.
func time(_ body: () throws -> Void) rethrows -> Double {
    let start = ContinuousClock.now
    try body()
    return (ContinuousClock.now - start) / .nanoseconds(1)
}
