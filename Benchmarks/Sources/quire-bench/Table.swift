/// The results as Markdown: rates, and how each subject compares with the bare file system.
struct Table {
    let subjects: [String]
    private(set) var rows: [[String]] = []

    init(subjects: [String]) { self.subjects = subjects }

    /// - Parameter seconds: each subject's best time, in the order of `subjects`; the first is the bare file system's.
    mutating func add(_ workload: Workload, seconds: [Double]) {
        var row = [workload.name, workload.unit]
        for (index, time) in seconds.enumerated() {
            row.append(Self.grouped(Int(Double(workload.amount) / time)))
            if index > 0, let bare = seconds.first { row.append(Self.ratio(time / bare)) }
        }
        rows.append(row)
    }

    var markdown: String {
        var header = ["", "unit", "bare"]
        for subject in subjects.dropFirst() { header += [subject, "× bare's time"] }
        let rule = header.indices.map { $0 < 2 ? "---" : "---:" }
        return ([header, rule] + rows).map { "| " + $0.joined(separator: " | ") + " |" }.joined(separator: "\n") + "\n"
    }

    private static func grouped(_ number: Int) -> String {
        let digits = String(number)
        var result = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { result += "," }
            result.append(digit)
        }
        return result
    }

    private static func ratio(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}
