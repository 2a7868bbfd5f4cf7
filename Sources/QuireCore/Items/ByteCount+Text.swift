extension ByteCount {
    /// Units of sizes in words, in bytes.
    private static let units: [String: Double] = [
        "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "kib": 1024, "mib": 1_048_576, "gib": 1_073_741_824,
        "tib": 1_099_511_627_776,
    ]

    /// Reads a size as people write it: `10 GB`, `1.5GiB`, `500000`; a number and one of B, kB, MB, GB, TB, KiB, MiB, GiB and
    /// TiB, in either case, with or without a blank between.
    ///
    /// - Returns: nil for anything else, for less than one byte, and for more than 8 EiB.
    package init?(text: String) {
        let trimmed = text.utf8.split(separator: UInt8(ascii: " "))
        guard let first = trimmed.first, trimmed.count <= 2 else { return nil }
        let isNumber = { (byte: UInt8) in (0x30...0x39).contains(byte) || byte == UInt8(ascii: ".") }
        let digits = first.prefix(while: isNumber)
        let rest = first.dropFirst(digits.count)
        guard rest.isEmpty || trimmed.count == 1 else { return nil }
        let unit = String(decoding: trimmed.count == 2 ? trimmed[1] : rest, as: UTF8.self).lowercased()
        guard let number = Double(String(decoding: digits, as: UTF8.self)),
            let factor = unit.isEmpty ? 1 : Self.units[unit], number * factor >= 1, number * factor < 9e18
        else { return nil }
        self.init(Int64(number * factor))
    }

    /// The same number as `init(text:)` reads it: `10 GB`, `1536 MiB`; of the units that divide it the greatest.
    package var exactText: String {
        let fitting = Self.units.filter { $0.value > 1 && bytes > 0 && bytes % Int64($0.value) == 0 }
        guard let (unit, factor) = fitting.max(by: { $0.value < $1.value }) else { return "\(bytes) B" }
        let prefix = unit == "kb" ? "k" : unit.prefix(1).uppercased()
        return "\(bytes / Int64(factor)) \(prefix)\(unit.dropFirst().dropLast())B"
    }
}
