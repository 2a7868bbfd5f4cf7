package import QuireCore

/// One entry of the drive, as the index has it.
package struct IndexItem: Sendable, Hashable {
    package var id: ItemID
    /// Below the drive's root.
    package var path: RelativePath
    package var container: ContainerID
    package var local: LocalRecord
    /// What the provider last acknowledged of it; nil when it has nothing.
    package var base: BaseRecord?
    /// How local state differs from the base.
    package var difference: LocalDifference
    /// An ephemeral name, something in an ephemeral directory, or a kind that no provider keeps.
    package var isLocalOnly: Bool
    /// The drive's root, or the root directory of a container: never uploaded, renamed or removed.
    package var isContainerRoot: Bool
    /// A handle is open for writing, as far as the events tell.
    package var writersOpen: Bool
    package var isPinned: Bool
    package var tags: [String]
    /// When it last changed here.
    package var since: FileTime
    package var parked: ParkedError?
    /// Without what only the sync engine knows (uploading, downloading).
    package var state: ItemState
    /// What it is by its name, or by its content where that is here and the name says nothing.
    package var type: ContentType
    /// When it came to be: kept through safe-saves; of an item that is older than the index, when its content was last written.
    package var created: FileTime
    /// When it came to the directory that it is in.
    package var added: FileTime
    /// Another where the content is another; the same through renames, downloads and evictions. Of a directory, always the same.
    package var generation: Int64
}

/// In which ways an item differs from what the provider last acknowledged.
package struct LocalDifference: OptionSet, Sendable, Hashable {
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    /// The provider has nothing of it.
    package static let created = LocalDifference(rawValue: 1)
    /// Content may differ: the fingerprint is not the acknowledged one, or a write handle is open. A directory was made anew.
    package static let content = LocalDifference(rawValue: 2)
    /// Mode or mtime differ (for directories: mode; for symlinks: mtime).
    package static let metadata = LocalDifference(rawValue: 4)
    /// Another name, or another directory. Something below a renamed directory has not moved.
    package static let moved = LocalDifference(rawValue: 8)
    /// It is not here any more, or has become local-only.
    package static let deleted = LocalDifference(rawValue: 16)
}

/// An error that keeps an item from being synced, until it is retried or changed.
package struct ParkedError: Sendable, Hashable {
    package var message: String
    /// The caller's word; kept as given.
    package var code: String
    package var since: FileTime

    package init(message: String, code: String, since: FileTime) {
        self.message = message
        self.code = code
        self.since = since
    }
}

/// What a parked error is about.
package enum ParkedSubject: Sendable, Hashable {
    case item(ItemID)
    /// Something that was deleted here, by its base path.
    case base(ContainerID, RelativePath)
}

/// A parked error and where it is.
package struct ParkedEntry: Sendable, Hashable {
    package var subject: ParkedSubject
    package var container: ContainerID
    /// Below the drive's root.
    package var path: RelativePath
    package var error: ParkedError
}
