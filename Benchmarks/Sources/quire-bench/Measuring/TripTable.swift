/// Requests per operation as Markdown.
struct TripTable {
    let subjects: [Subject.Kind]
    let sizes: Sizes
    private var counts: [String: [Subject.Kind: [String: Int]]] = [:]

    init(subjects: [Subject.Kind], sizes: Sizes) {
        self.subjects = subjects
        self.sizes = sizes
    }

    mutating func add(_ row: Row, _ kind: Subject.Kind, _ requests: [String: Int]) {
        counts[row.key, default: [:]][kind] = requests
    }

    func markdown(_ rows: [Row]) -> String {
        let header = ["", "per"] + subjects.flatMap { [$0.rawValue, "of these"] }
        let rule = header.indices.map { $0 > 1 && $0 % 2 == 0 ? "---:" : "---" }
        return ([header, rule] + rows.map(cells)).map { "| " + $0.joined(separator: " | ") + " |" }
            .joined(separator: "\n") + "\n"
    }

    private func cells(_ row: Row) -> [String] {
        let amount =
            switch row.unit {
            case .operations(let count), .mebibytes(let count): count(sizes)
            case .seconds: sizes.entries
            }
        return [row.name, row.each]
            + subjects.flatMap { kind -> [String] in
                guard let requests = counts[row.key]?[kind] else { return ["", ""] }
                let total = requests.values.reduce(0, +)
                let parts = requests.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
                    .map { ($0.key, Double($0.value) / Double(amount)) }.filter { $0.1 >= 0.005 }
                    .map { "\($0.0) \(Number.decimals($0.1, 2))" }
                return [Number.decimals(Double(total) / Double(amount), 2), parts.joined(separator: ", ")]
            }
    }
}
