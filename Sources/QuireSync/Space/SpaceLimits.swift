package import QuireCore

/// How much room the drive's content may take; from `config.toml`, section `cache`.
package struct SpaceLimits: Sendable, Hashable {
    /// Most that content takes here; nil for no limit.
    package var limit: ByteCount?
    /// What stays free on the store's file system; nil for nothing in particular.
    package var keepFree: ByteCount?

    package init(limit: ByteCount? = nil, keepFree: ByteCount? = nil) {
        self.limit = limit
        self.keepFree = keepFree
    }

    /// Whether there are none.
    package var isEmpty: Bool { limit == nil && keepFree == nil }

    /// How much has to go, in bytes, for a while to be over before the next time; 0 where nothing has to.
    ///
    /// - Parameter more: what is about to come.
    func excess(_ figures: SpaceFigures, more: Int64) -> Int64 {
        var excess: Int64 = 0
        let used = figures.used.addingClamped(more)
        if let limit = limit?.bytes, used > limit { excess = used - max(0, limit / 10 * 9) }
        let free = figures.free.subtractingClamped(more)
        // More than there is to be had is not asked for.
        if let keepFree = keepFree?.bytes, free < keepFree {
            excess = max(excess, keepFree.addingClamped(keepFree / 10).subtractingClamped(free))
        }
        return excess
    }

    /// Whether `more` bytes go in beside what is here.
    func admits(_ more: Int64, _ figures: SpaceFigures) -> Bool {
        limit.map { figures.used.addingClamped(more) <= $0.bytes } ?? true
            && keepFree.map { figures.free.subtractingClamped(more) >= $0.bytes } ?? true
    }

    /// What may be added in bytes; may be negative.
    func room(_ figures: SpaceFigures) -> Int64 {
        min(
            limit.map { $0.bytes.subtractingClamped(figures.used) } ?? .max,
            keepFree.map { figures.free.subtractingClamped($0.bytes) } ?? .max)
    }
}

/// How much room is taken and left, in bytes.
struct SpaceFigures: Sendable, Hashable {
    /// Sizes of files whose content is here, and of those that are coming.
    var used: Int64
    /// Of that, what can be evicted.
    var evictable: Int64
    /// Available on the store's file system, less what is coming.
    var free: Int64

    /// The same when everything is evicted that can be.
    var emptied: SpaceFigures {
        SpaceFigures(used: used - evictable, evictable: 0, free: free.addingClamped(evictable))
    }
}

/// How the drive stands with its limits, for `quire status`.
package struct SpaceReport: Sendable, Hashable {
    /// What content takes here.
    package var used: ByteCount
    package var limits: SpaceLimits
    /// What programs may add, everything evicted that can be.
    package var left: ByteCount
    /// Downloads that were refused since there was no room for them, and still would be.
    package var refused: [RefusedDownload]
}

/// A download for which there was no room.
package struct RefusedDownload: Sendable, Hashable {
    /// Below the drive's root.
    package var path: RelativePath
    package var size: ByteCount
    package var message: String
    package var since: FileTime
}
