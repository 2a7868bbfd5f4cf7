/// Measured seconds, and what they are against the targets.
struct Results {
    private var seconds: [String: [Subject.Kind: [Double]]] = [:]
    let sizes: Sizes

    init(sizes: Sizes) { self.sizes = sizes }

    /// Two measurements of one thing differ by this much on an idle machine: a target is missed beyond it.
    static let tolerance = 0.03

    mutating func add(_ row: Row, _ kind: Subject.Kind, seconds time: Double) {
        seconds[row.key, default: [:]][kind, default: []].append(time)
    }

    /// The best of the rounds: what else the machine does only adds.
    func best(_ row: Row, _ kind: Subject.Kind) -> Double? { seconds[row.key]?[kind]?.min() }

    /// How many times as fast as another a subject is.
    func ratio(_ row: Row, _ kind: Subject.Kind, to other: Subject.Kind) -> Double? {
        guard let own = best(row, kind), let others = best(row, other), own > 0 else { return nil }
        return others / own
    }

    /// Whether the drive reaches what is asked of it; nil where that was not measured.
    func isReached(_ row: Row, _ kind: Subject.Kind) -> Bool? {
        var answers: [Bool] = []
        func check(_ least: Double?, _ ratio: Double?) {
            if let least, let ratio { answers.append(ratio >= least * (1 - Self.tolerance)) }
        }
        if kind == .quireWithoutPassthrough {
            check(row.target.bareWithoutPassthrough, ratio(row, kind, to: .bare))
        } else {
            check(row.target.passthroughLL, ratio(row, kind, to: .passthroughLL))
            check(row.target.bare, ratio(row, kind, to: .bare))
        }
        return answers.isEmpty ? nil : answers.allSatisfy { $0 }
    }
}
