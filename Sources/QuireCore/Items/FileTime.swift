import Glibc

/// A point in time as files have it: nanoseconds since 1970, UTC. Clamped to what 64 bits hold (years 1678 to 2262).
public struct FileTime: Hashable, Sendable, Comparable, Codable {
    /// Since 1970, UTC; negative before.
    public let nanoseconds: Int64

    /// Stands for a time that nobody knows: the beginning of 1970.
    public static let unknown = FileTime(nanoseconds: 0)

    /// Takes nanoseconds since 1970.
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// - Parameters:
    ///   - seconds: since 1970, may be negative.
    ///   - nanoseconds: 0 ..< 1_000_000_000.
    public init(seconds: Int, nanoseconds: Int) {
        let (scaled, overflow) = Int64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, carried) = scaled.addingReportingOverflow(Int64(nanoseconds))
        self.nanoseconds = overflow || carried ? (seconds < 0 ? .min : .max) : sum
    }

    /// Whole seconds, rounded down.
    public var seconds: Int { Int(parts.quotient) }

    /// The rest, 0 ..< 1_000_000_000.
    public var subsecondNanoseconds: Int { Int(parts.remainder) }

    private var parts: (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return remainder < 0 ? (quotient - 1, remainder + 1_000_000_000) : (quotient, remainder)
    }

    /// Earlier before later.
    public static func < (left: FileTime, right: FileTime) -> Bool { left.nanoseconds < right.nanoseconds }
}

extension FileTime {
    /// `YYYY-MM-DD`, in the device's time zone.
    package var localDay: String {
        guard let parts = localParts else { return "1970-01-01" }
        return "\(Self.padded(parts.tm_year + 1900, 4))-\(Self.padded(parts.tm_mon + 1))-\(Self.padded(parts.tm_mday))"
    }

    /// `YYYY-MM-DD HH:MM`, in the device's time zone.
    package var localMinute: String {
        guard let parts = localParts else { return localDay }
        return "\(localDay) \(Self.padded(parts.tm_hour)):\(Self.padded(parts.tm_min))"
    }

    private var localParts: tm? {
        var seconds = time_t(self.seconds)
        var parts = tm()
        return localtime_r(&seconds, &parts) == nil ? nil : parts
    }

    private static func padded(_ number: Int32, _ width: Int = 2) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
