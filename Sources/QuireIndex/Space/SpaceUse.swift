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

/// A file whose content can be taken off this device.
package struct EvictableFile: Sendable, Hashable {
    package var id: ItemID
    /// Below the drive's root.
    package var path: RelativePath
    /// In bytes; more than 0.
    package var size: Int64
}
