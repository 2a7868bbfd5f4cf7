package import Foundation
import QuireCore

/// What `now` and `today` are in a query.
package struct QueryClock: Sendable {
    private let now: @Sendable () -> Date
    private let calendar: Calendar

    /// The system's clock and the user's time zone.
    package static let system = QueryClock(calendar: .current) { Date() }

    package init(calendar: Calendar, now: @escaping @Sendable () -> Date) {
        self.calendar = calendar
        self.now = now
    }

    /// A date as people write it: a day begins at midnight of the time zone.
    func date(_ text: String) -> FileTime? {
        if let exact = try? Date(text, strategy: .iso8601) { return Self.time(exact) }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 3, let year = parts[0], let month = parts[1], let day = parts[2] else { return nil }
        let components = DateComponents(calendar: calendar, year: year, month: month, day: day)
        guard components.isValidDate(in: calendar), let date = calendar.date(from: components) else { return nil }
        return Self.time(date)
    }

    /// `$time.now(seconds)`, `$time.today(days)`, `$time.iso(date)`.
    func date(_ function: String, _ argument: String?) -> FileTime? {
        let amount = argument.map { Double($0) } ?? 0
        switch function {
        case "$time.now": return amount.flatMap { Self.time(now().addingTimeInterval($0)) }
        case "$time.today":
            guard let amount, let days = Int(exactly: amount), abs(days) < 1_000_000 else { return nil }
            return calendar.date(byAdding: .day, value: days, to: calendar.startOfDay(for: now())).flatMap(Self.time)
        case "$time.iso": return argument.flatMap { date($0) }
        default: return nil
        }
    }

    private static func time(_ date: Date) -> FileTime? {
        let seconds = date.timeIntervalSince1970
        guard abs(seconds) < 1e11 else { return nil }
        return FileTime(seconds: Int(seconds.rounded(.down)), nanoseconds: 0)
    }
}
