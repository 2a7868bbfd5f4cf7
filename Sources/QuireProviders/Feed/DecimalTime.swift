import QuireCore

/// Times as seconds since 1970 with a fraction, as rclone writes them into metadata of objects.
enum DecimalTime {
    /// With nine digits after the point.
    static func text(_ time: FileTime) -> String {
        let fraction = String(time.subsecondNanoseconds + 1_000_000_000).dropFirst()
        return "\(time.seconds).\(fraction)"
    }

    /// Reads a whole number, or one with a fraction of up to nine digits; nil for anything else.
    static func parse(_ text: String) -> FileTime? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first, let seconds = Int64(whole), abs(seconds) < 1 << 33 else { return nil }
        guard parts.count == 2 else { return FileTime(seconds: Int(seconds), nanoseconds: 0) }
        let digits = parts[1].utf8
        guard (1...9).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }),
            let fraction = Int(parts[1] + String(repeating: "0", count: 9 - digits.count))
        else { return nil }
        return FileTime(seconds: Int(seconds), nanoseconds: fraction)
    }
}
