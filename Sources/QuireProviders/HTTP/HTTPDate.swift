package import QuireCore

/// Dates as HTTP has them (RFC 9110 §5.6.7), to the second, UTC.
package enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]

    /// Reads `Sun, 06 Nov 1994 08:49:37 GMT` and the two obsolete forms, `Sunday, 06-Nov-94 08:49:37 GMT` and
    /// `Sun Nov  6 08:49:37 1994`; also RFC 3339, as WebDAV's creationdate and S3's LastModified have it, and what some servers
    /// make of these: `Sun, 06 Nov 1994 09:49:37 +0100`, `Sun Nov  6 08:49:37 UTC 1994`.
    package static func parse(_ text: String) -> FileTime? {
        let words = text.split { " ,".contains($0) }.map(String.init)
        let day = words.first ?? ""
        if days.contains(day), words.count == 5 {
            return time(year: words[4], month: words[1], day: words[2], clock: words[3])
        }
        if days.contains(day), words.count == 6, let offset = offset(zone: words[4]) {
            return time(year: words[5], month: words[1], day: words[2], clock: words[3], offset)
        }
        if words.count == 6, let offset = offset(zone: words[5]) {
            return time(year: words[3], month: words[2], day: words[1], clock: words[4], offset)
        }
        let date = words.count == 4 ? words[1].split(separator: "-").map(String.init) : []
        if date.count == 3, offset(zone: words[3]) == 0 {
            return time(year: date[2], month: date[1], day: date[0], clock: words[2])
        }
        return parseTimestamp(text)
    }

    /// Seconds that clocks of `GMT`, `UTC`, `+0100` or `-0530` are ahead of UTC; nil for names of other zones.
    private static func offset(zone: String) -> Int? {
        if zone == "GMT" || zone == "UTC" { return 0 }
        let bytes = Array(zone.utf8)
        guard bytes.count == 5, bytes[0] == 0x2B || bytes[0] == 0x2D, let hours = number(bytes[1...2]),
            let minutes = number(bytes[3...4]), hours < 24, minutes < 60
        else { return nil }
        return (bytes[0] == 0x2D ? -60 : 60) * (hours * 60 + minutes)
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`.
    package static func format(_ time: FileTime) -> String {
        let date = civil(time.seconds)
        let day = days[((date.days % 7) + 7) % 7]
        let clock = [date.second / 3600, date.second / 60 % 60, date.second % 60].map(padded).joined(separator: ":")
        return "\(day), \(padded(date.day)) \(months[date.month - 1]) \(date.year) \(clock) GMT"
    }

    /// `19941106T084937Z` (ISO 8601, basic form), as signatures have it.
    package static func formatBasic(_ time: FileTime) -> String {
        let date = civil(time.seconds)
        let clock = [date.second / 3600, date.second / 60 % 60, date.second % 60].map(padded).joined()
        return "\(date.year)\(padded(date.month))\(padded(date.day))T\(clock)Z"
    }

    /// `1994-11-06T08:49:37.123Z`, with or without a fraction, `Z` or an offset.
    private static func parseTimestamp(_ text: String) -> FileTime? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, bytes[4] == 0x2D, bytes[7] == 0x2D, bytes[10] == 0x54 || bytes[10] == 0x74,
            let year = number(bytes[0..<4]), let month = number(bytes[5..<7]), let day = number(bytes[8..<10])
        else { return nil }
        var rest = bytes[19...]
        var nanoseconds = 0
        if rest.first == 0x2E {
            let digits = rest.dropFirst().prefix { (0x30...0x39).contains($0) }
            guard !digits.isEmpty, let fraction = number(digits.prefix(9)) else { return nil }
            nanoseconds = (digits.count..<9).reduce(fraction) { scaled, _ in scaled * 10 }
            rest = rest.dropFirst(1 + digits.count)
        }
        var offset = 0
        if rest.count == 6, let hours = number(rest.dropFirst().prefix(2)), let minutes = number(rest.suffix(2)) {
            offset = (rest.first == 0x2D ? -60 : 60) * (hours * 60 + minutes)
        } else if !rest.elementsEqual("Z".utf8), !rest.elementsEqual("z".utf8) {
            return nil
        }
        guard let seconds = seconds(year, month, day, String(decoding: bytes[11..<19], as: UTF8.self)) else {
            return nil
        }
        return FileTime(seconds: seconds - offset, nanoseconds: nanoseconds)
    }

    private static func time(
        year: String, month: String, day: String, clock: String, _ offset: Int = 0
    ) -> FileTime? {
        guard var year = number(year.utf8), let day = number(day.utf8), let month = months.firstIndex(of: month) else {
            return nil
        }
        // Two digits: not more than 50 years ahead (RFC 9110), as of this century.
        if year < 100 { year += year < 70 ? 2000 : 1900 }
        return seconds(year, month + 1, day, clock).map { FileTime(seconds: $0 - offset, nanoseconds: 0) }
    }

    private static func seconds(_ year: Int, _ month: Int, _ day: Int, _ clock: String) -> Int? {
        let parts = clock.split(separator: ":", omittingEmptySubsequences: false).map { number($0.utf8) }
        guard parts.count == 3, let hour = parts[0], let minute = parts[1], let second = parts[2],
            (0...9999).contains(year), (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60,
            second <= 60
        else { return nil }
        return dayNumber(year, month, day) * 86400 + hour * 3600 + minute * 60 + min(second, 59)
    }

    private static func number(_ digits: some Collection<UInt8>) -> Int? {
        guard !digits.isEmpty, digits.count <= 9, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    private static func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    /// Days since 1970-01-01 in the Gregorian calendar (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms").
    private static func dayNumber(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(_ seconds: Int) -> (year: Int, month: Int, day: Int, second: Int, days: Int) {
        let days = seconds >= 0 ? seconds / 86400 : (seconds - 86399) / 86400
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthIndex = (5 * dayOfYear + 2) / 153
        let month = monthIndex < 10 ? monthIndex + 3 : monthIndex - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * monthIndex + 2) / 5 + 1, seconds - days * 86400, days)
    }
}
