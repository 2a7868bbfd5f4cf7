/// Numbers with units of bytes: `12`, `-3`, `1.5MB`, `2GiB`.
enum QueryNumber {
    /// Nil for anything else.
    static func parse(_ text: String) -> Double? {
        let digits = text.prefix { $0.isASCII && ($0.isNumber || ".-+".contains($0)) }
        guard let number = Double(digits), number.isFinite else { return nil }
        let unit = text.dropFirst(digits.count).lowercased()
        return units[unit].map { number * $0 }
    }

    private static let units: [String: Double] = {
        var units = ["": 1.0, "b": 1.0]
        for (power, letter) in ["k", "m", "g", "t"].enumerated() {
            let decimal = (0...power).reduce(1.0) { value, _ in value * 1000 }
            let binary = (0...power).reduce(1.0) { value, _ in value * 1024 }
            units["\(letter)b"] = decimal
            units[letter] = decimal
            units["\(letter)ib"] = binary
        }
        return units
    }()
}
