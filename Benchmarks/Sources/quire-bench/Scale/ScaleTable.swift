/// What was measured at scale, and the limits.
struct ScaleTable {
    private var rows: [[String]] = []
    private(set) var missed: [String] = []

    /// - Parameters:
    ///   - value: seconds, or what the name says.
    ///   - limit: nil where none is given.
    mutating func add(_ name: String, _ value: Double, atMost limit: Double? = nil) {
        let isMissed = limit.map { value > $0 } ?? false
        if isMissed { missed.append(name) }
        let verdict = limit == nil ? "" : isMissed ? "MISSED" : "ok"
        rows.append([name, Number.decimals(value, 2), limit.map { Number.decimals($0, 2) } ?? "", verdict])
        say("\(name): \(Number.decimals(value, 2)) \(verdict)")
    }

    /// Something that did not work.
    mutating func add(_ failure: String) {
        missed.append(failure)
        rows.append([failure, "", "", "FAILED"])
        say("failed: \(failure)")
    }

    var markdown: String {
        let head = [["", "seconds", "at most", ""], ["---", "---:", "---:", "---"]]
        return (head + rows).map { "| " + $0.joined(separator: " | ") + " |" }.joined(separator: "\n") + "\n"
    }
}
