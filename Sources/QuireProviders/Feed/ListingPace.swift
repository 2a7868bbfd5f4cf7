/// How often everything is listed.
package struct ListingPace: Sendable, Hashable {
    /// Fixed; nil: so that listing takes a twentieth of the time.
    package var interval: Duration?

    private static let longest = Duration.seconds(3600)

    /// - Parameter interval: nil: by how long a listing takes, at least every hour.
    package init(interval: Duration? = nil) { self.interval = interval }

    /// How long after one the next is due where the store tells what changes in it.
    var pauseBesideJournal: Duration { interval ?? Self.longest }

    /// How long after a listing that took that long the next is due.
    func pause(after took: Duration) -> Duration { interval ?? min(took * 20, Self.longest) }
}
