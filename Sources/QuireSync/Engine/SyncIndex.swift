package import QuireCore
package import QuireIndex

/// What the engine needs of the metadata index (`IndexedDrive` is that).
///
/// Reads answer for what was committed; `settle` first, where all events so far must be in it. Errors are the index's own
/// (the disk); the engine ends its round on them and tries again later.
package protocol SyncIndex: StoreEventSink {
    /// Returns when every event recorded before the call is committed.
    func settle() async throws

    /// Wakes the engine: one element after each committed batch.
    func commits() -> AsyncStream<Void>

    /// Every base of the container, with the local item that is linked to it; its path below `root`, the container's root.
    func tree(_ container: ContainerID, root: RelativePath) async throws -> [TreeBase]

    /// Everything whose local state is not the provider's, but for deletions that are held. Paths are below the container's
    /// root.
    func pending(_ container: ContainerID) async throws -> [PendingChange]

    /// The local item at a path below the drive's root; so is its entry's path, here and below.
    func item(drivePath: RelativePath) async throws -> IndexedItem?

    /// The local item with this id.
    func item(_ id: ItemID) async throws -> IndexedItem?

    /// All files at and below a path of the drive, for `pin` and `download`.
    func files(below drivePath: RelativePath) async throws -> [IndexedItem]

    /// Whether the rescan has seen the directory at a path below the drive's root.
    func isRescanned(drivePath: RelativePath) async throws -> Bool

    /// Returns when the rescan has seen all directories.
    func rescanFinished() async

    /// Deletions that wait for `confirmDeletions`, because too much was missing at the rescan to believe it.
    func heldDeletions() async throws -> Int
    func confirmDeletions() async throws

    func park(_ subject: ParkedSubject, message: String, until: ParkedUntil) async throws
    func unpark(_ subject: ParkedSubject) async throws
    /// Subjects parked, with what was said of them.
    func parked(_ container: ContainerID) async throws -> [ParkedChange]

    func setPinned(_ id: ItemID, _ isPinned: Bool) async throws

    /// A value that outlives the daemon.
    func value(_ key: String) async throws -> String?
    func setValue(_ key: String, _ value: String?) async throws

    /// How many conflict copies are on the drive, by their names.
    func conflictCopies() async throws -> [RelativePath]
}

/// A local item and what belongs to it.
package struct IndexedItem: Sendable, Hashable {
    package var entry: LocalEntry
    package var container: ContainerID
    /// Below the drive's root.
    package var drivePath: RelativePath
    package var base: BaseRecord?
    package var isPinned: Bool

    package init(entry: LocalEntry, container: ContainerID, drivePath: RelativePath, base: BaseRecord?, isPinned: Bool)
    {
        self.entry = entry
        self.container = container
        self.drivePath = drivePath
        self.base = base
        self.isPinned = isPinned
    }
}

/// One local difference from the base.
package struct PendingChange: Sendable, Hashable {
    /// Nil for what was deleted here.
    package var local: LocalEntry?
    /// Nil for what is new.
    package var base: BaseRecord?
    package var isMoved: Bool
    package var attributesChanged: Bool
    /// When it was last changed.
    package var since: FileTime

    package init(local: LocalEntry?, base: BaseRecord?, isMoved: Bool, attributesChanged: Bool, since: FileTime) {
        self.local = local
        self.base = base
        self.isMoved = isMoved
        self.attributesChanged = attributesChanged
        self.since = since
    }

    /// What it is parked under.
    package var subject: ParkedSubject? { local.map { .item($0.id) } ?? base.map { .base($0.container, $0.path) } }
}

/// When a parked change is tried again.
package enum ParkedUntil: String, Sendable {
    case retry
    case changed
}

/// A parked change.
package struct ParkedChange: Sendable, Hashable {
    package var subject: ParkedSubject
    /// Below the drive's root.
    package var path: RelativePath
    package var message: String
    package var since: FileTime

    package init(subject: ParkedSubject, path: RelativePath, message: String, since: FileTime) {
        self.subject = subject
        self.path = path
        self.message = message
        self.since = since
    }
}
