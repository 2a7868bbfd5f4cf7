/// The results as Markdown.
struct ResultTable {
    let results: Results
    let kinds: [Subject.Kind]

    func markdown(_ rows: [Row]) -> String {
        var header = ["", "unit"] + kinds.filter { $0 != .quireWithoutPassthrough }.map(\.rawValue)
        header += ["× passthrough_ll", "× bare", "asked", ""]
        if hasSecondForm { header += ["without passthrough", "× bare", "asked", ""] }
        let rule = header.indices.map { $0 < 2 ? "---" : "---:" }
        return ([header, rule] + rows.map(cells)).map { "| " + $0.joined(separator: " | ") + " |" }
            .joined(separator: "\n") + "\n"
    }

    /// Names of the rows that miss their target.
    func missed(_ rows: [Row]) -> [String] {
        rows.flatMap { row in
            [Subject.Kind.quire, .quireWithoutPassthrough].filter { results.isReached(row, $0) == false }
                .map { "\(row.key) (\($0.rawValue))" }
        }
    }

    private var hasSecondForm: Bool { kinds.contains(.quireWithoutPassthrough) }

    private func cells(_ row: Row) -> [String] {
        var cells = [row.name, unit(row)]
        for kind in kinds where kind != .quireWithoutPassthrough { cells.append(value(row, kind)) }
        cells.append(Number.ratio(results.ratio(row, .quire, to: .passthroughLL)))
        cells.append(Number.ratio(results.ratio(row, .quire, to: .bare)))
        cells.append(asked(row))
        cells.append(verdict(row, .quire))
        guard hasSecondForm else { return cells }
        cells.append(value(row, .quireWithoutPassthrough))
        cells.append(Number.ratio(results.ratio(row, .quireWithoutPassthrough, to: .bare)))
        cells.append(row.target.bareWithoutPassthrough.map { Number.ratio($0) } ?? "")
        cells.append(verdict(row, .quireWithoutPassthrough))
        return cells
    }

    private func unit(_ row: Row) -> String {
        switch row.unit {
        case .operations: "ops/s"
        case .seconds: "s"
        case .mebibytes: "MiB/s"
        }
    }

    private func value(_ row: Row, _ kind: Subject.Kind) -> String {
        guard let seconds = results.best(row, kind) else { return "" }
        switch row.unit {
        case .operations(let count), .mebibytes(let count):
            return Number.grouped(Int(Double(count(results.sizes)) / seconds))
        case .seconds: return Number.decimals(seconds, seconds < 0.1 ? 3 : 2)
        }
    }

    private func asked(_ row: Row) -> String {
        let bare = row.target.bare.map { ", bare \(Number.ratio($0))" } ?? ""
        return Number.ratio(row.target.passthroughLL) + bare
    }

    private func verdict(_ row: Row, _ kind: Subject.Kind) -> String {
        switch results.isReached(row, kind) {
        case nil: ""
        case true?: "ok"
        case false?: "MISSED"
        }
    }
}

/// Numbers as the tables show them.
enum Number {
    /// With commas between thousands.
    static func grouped(_ number: Int) -> String {
        let digits = String(number)
        var result = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { result += "," }
            result.append(digit)
        }
        return result
    }

    /// With three digits that count.
    static func ratio(_ value: Double?) -> String {
        guard let value else { return "" }
        return decimals(value, value < 10 ? 2 : 1)
    }

    static func decimals(_ value: Double, _ places: Int) -> String {
        var scale = 1
        for _ in 0..<places { scale *= 10 }
        let scaled = Int((value * Double(scale)).rounded())
        let fraction = String(scaled % scale)
        return "\(scaled / scale)." + String(repeating: "0", count: places - fraction.count) + fraction
    }
}
