package import QuireCore

/// How much content is here.
package struct SpaceUse: Sendable, Hashable {
    /// Sizes of all files whose content is here, in bytes; a file with several names counts once.
    package var here: Int64
    /// Of that, what the provider has as well and nobody has pinned: it can be taken off this device.
    package var evictable: Int64

    package init(here: Int64, evictable: Int64) {
        self.here = here
        self.evictable = evictable
    }
}

/// Where the content of a container's files is.
package struct ContentPlaces: Sendable, Hashable {
    /// How many files are here with their content.
    package var here: Int
    /// How many are placeholders: their content, or some of it, is with the provider only.
    package var elsewhere: Int
    /// The first of these, in no particular order.
    package var first: [RelativePath]

    package init(here: Int = 0, elsewhere: Int = 0, first: [RelativePath] = []) {
        self.here = here
        self.elsewhere = elsewhere
        self.first = first
    }
}

/// A file whose content can be taken off this device.
package struct EvictableFile: Sendable, Hashable {
    package var id: ItemID
    /// Below the drive's root.
    package var path: RelativePath
    /// In bytes; more than 0.
    package var size: Int64
}
