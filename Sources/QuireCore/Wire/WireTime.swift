import Glibc

/// A point in time in a message and in `--json`: ISO 8601 in UTC, to the millisecond: `2026-01-31T08:05:09.250Z`.
package struct WireTime: Sendable, Hashable, Codable, CustomStringConvertible {
    package var time: FileTime

    package init(_ time: FileTime) { self.time = time }

    package var description: String {
        var seconds = time_t(time.seconds)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        return Self.padded(Int(parts.tm_year) + 1900, 4) + "-" + Self.padded(Int(parts.tm_mon) + 1, 2) + "-"
            + Self.padded(Int(parts.tm_mday), 2) + "T" + Self.padded(Int(parts.tm_hour), 2) + ":"
            + Self.padded(Int(parts.tm_min), 2) + ":" + Self.padded(Int(parts.tm_sec), 2) + "."
            + Self.padded(time.subsecondNanoseconds / 1_000_000, 3) + "Z"
    }

    /// Reads what `description` writes; nil for anything else.
    package init?(_ text: String) {
        let digits = text.split { !$0.isNumber }.compactMap { Int($0) }
        guard digits.count == 7, text.hasSuffix("Z"), text.utf8.count == 24 else { return nil }
        var parts = tm()
        parts.tm_year = Int32(digits[0] - 1900)
        parts.tm_mon = Int32(digits[1] - 1)
        parts.tm_mday = Int32(digits[2])
        parts.tm_hour = Int32(digits[3])
        parts.tm_min = Int32(digits[4])
        parts.tm_sec = Int32(digits[5])
        self.time = FileTime(seconds: timegm(&parts), nanoseconds: digits[6] * 1_000_000)
    }

    package init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let time = WireTime(text) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "not a time: \(text)"))
        }
        self = time
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
