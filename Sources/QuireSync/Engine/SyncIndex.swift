package import QuireCore
package import QuireIndex

/// What the engine needs of the metadata index (`IndexedDrive` is that).
///
/// Reads answer for what was committed; `settle` first, where all events so far must be in it. Errors are the index's own
/// (the disk); the engine ends its round on them and tries again later.
package protocol SyncIndex: StoreEventSink {
    /// Returns when every event recorded before the call is committed.
    func settle() async throws

    /// Why it may not know of all that is pending, as the end of a sentence; nil where it does.
    var doubt: String? { get }

    /// Has what was recorded until now written meanwhile: for who records much and waits by `settle` then. Returns at once.
    func writeSoon()

    /// Wakes the engine: one element after each committed batch, but for further writes to a file that is known to be written to.
    func commits() -> AsyncStream<Void>

    /// What `make` makes of the bases of the container, each with the local item that is linked to it; its path below `root`, the
    /// container's root.
    func tree<Entry: Sendable>(
        _ container: ContainerID, root: RelativePath, _ make: @escaping @Sendable (TreeBase) -> Entry?
    ) async throws -> [Entry]

    /// The part of that on which a plan for these changes depends.
    func tree(_ container: ContainerID, root: RelativePath, for changes: BaseScope) async throws -> [TreeBase]

    /// How many bases the container has.
    func baseCount(_ container: ContainerID) async throws -> Int

    /// A part of what is not as the provider has it, but for deletions that are held, with what each change needs. Paths are
    /// below the container's root.
    func pending(_ container: ContainerID, _ request: PendingRequest) async throws -> PendingPart

    /// How much of that there is.
    func pendingTotals(_ container: ContainerID) async throws -> PendingTotals

    /// Where the provider has what is deleted once it has arrived in the container that it was moved to, at most `limit`.
    func awaitingDeletions(_ container: ContainerID, limit: Int) async throws -> [RelativePath]

    /// The sizes of files whose content is to be sent.
    func pendingBytes(_ container: ContainerID) async throws -> Int64

    /// Those of what failed that are still to be done.
    func pending(of subjects: [ParkedSubject], in container: ContainerID) async throws -> Set<ParkedSubject>

    /// The local item at a path below the drive's root; so is its entry's path, here and below.
    func item(drivePath: RelativePath) async throws -> IndexedItem?

    /// The same at several paths, in one read; where there is none, none is told.
    func items(drivePaths: [RelativePath]) async throws -> [IndexedItem]

    /// The local item with this id.
    func item(_ id: ItemID) async throws -> IndexedItem?

    /// What the provider has directly in a directory, as far as is known.
    func baseNames(_ container: ContainerID, in directory: RelativePath) async throws -> [BaseName]

    /// Those with these ids, in this order; what is not there is left out.
    func items(_ ids: [ItemID]) async throws -> [IndexedItem]

    /// What `make` makes of the files at and below a path of the drive, for commands on directories. They are read by parts, as
    /// all items together may be hundreds of megabytes.
    func files<Entry: Sendable>(
        below drivePath: RelativePath, _ make: @Sendable (IndexedItem) -> Entry?
    ) async throws -> [Entry]

    /// Whether the rescan has seen the directory at a path below the drive's root.
    func isRescanned(drivePath: RelativePath) async throws -> Bool

    /// What of the store the rescan could not look at.
    func unreadPlaces() -> [UnreadPlace]

    /// Returns when the rescan has seen all directories.
    func rescanFinished() async

    /// Deletions that wait for `confirmDeletions`, because too much was missing at the rescan to believe it, or because a
    /// placeholder elsewhere needs what they would delete.
    func heldDeletions() async throws -> Int
    /// The same by container, with so many of each named.
    func heldDeletions(naming limit: Int) async throws -> [HeldDeletes]
    /// Has them go on, but for those of what a placeholder needs; how many go on.
    func confirmDeletions() async throws -> Int
    /// The placeholders that need something whose deletion is held.
    func strandedPlaceholders() async throws -> [StrandedPlaceholder]

    func park(_ subject: ParkedSubject, message: String, until: ParkedUntil) async throws
    func unpark(_ subject: ParkedSubject) async throws
    /// Subjects parked, with what was said of them.
    func parked(_ container: ContainerID) async throws -> [ParkedChange]

    /// Of a directory: with all that is and comes below it.
    func setPinned(_ id: ItemID, _ isPinned: Bool) async throws

    /// How much content is here, and which files' content can go: a page, by id, after `id`.
    func spaceUse() async throws -> SpaceUse
    /// How much of what can go is of these versions of a container's documents; nil for all.
    func evictableBytes(_ container: ContainerID, of versions: Set<ProviderVersion>?) async throws -> Int64
    func evictableFiles(after id: ItemID?, limit: Int) async throws -> [EvictableFile]
    /// Files whose content is to be here and is not, a page, by id, after `id`: what is pinned, and what has the name of something
    /// that is kept on this device only while another item takes its place at the provider; or only what is kept here only.
    func datalessToBring(after id: ItemID?, limit: Int, isLocalOnly: Bool) async throws -> [IndexedItem]
    /// Files whose content is here as the provider has it, without a checksum: a page, by id, after `id`.
    func uncountedFiles(after id: ItemID?, limit: Int) async throws -> [IndexedItem]

    /// Uploads that were begun and not acknowledged. While no push runs: those whose answer was lost.
    func unansweredUploads(_ container: ContainerID) async throws -> [UnansweredUpload]
    func forget(_ upload: UnansweredUpload) async throws

    /// A value that outlives the daemon.
    func value(_ key: String) async throws -> String?
    /// - Parameter durably: survives a power cut once it is done.
    func setValue(_ key: String, _ value: String?, durably: Bool) async throws

    /// How many conflict copies are on the drive, by their names.
    func conflictCopies() async throws -> [RelativePath]
}

extension SyncIndex {
    /// The base at a path below `root`, the container's root, with the item that is linked to it.
    func base(_ container: ContainerID, root: RelativePath, at path: RelativePath) async throws -> TreeBase? {
        let found = try await tree(container, root: root, for: BaseScope(changed: [], removed: [path]))
        return found.first { $0.record.path == path }
    }

    /// Sets a value that may be the former one after a power cut.
    func setValue(_ key: String, _ value: String?) async throws { try await setValue(key, value, durably: false) }
}

/// A local item and what belongs to it.
package struct IndexedItem: Sendable, Hashable {
    package var entry: LocalEntry
    package var container: ContainerID
    /// Below the drive's root.
    package var drivePath: RelativePath
    package var base: BaseRecord?
    package var isPinned: Bool
    /// It lies in another directory than the base's, or has another name.
    package var isMoved: Bool
    /// When it was last changed here.
    package var since: FileTime

    package init(
        entry: LocalEntry, container: ContainerID, drivePath: RelativePath, base: BaseRecord?, isPinned: Bool,
        isMoved: Bool, since: FileTime
    ) {
        self.entry = entry
        self.container = container
        self.drivePath = drivePath
        self.base = base
        self.isPinned = isPinned
        self.isMoved = isMoved
        self.since = since
    }

    /// Whether this device has something in it that the provider has not: content, or its place.
    package var isOwn: Bool { base == nil || isMoved || entry.content == .changed }
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

/// A part of what is pending that can be planned by itself.
package struct PendingPart: Sendable {
    /// What was asked for, and after these what they need.
    package var changes: [PendingChange]
    /// How many of them were asked for.
    package var asked: Int
    /// For each change, as positions in `changes`: what has to be done before it or with it. Nil where some of that is not in
    /// this part, so that the change has to wait for another.
    package var needs: [[Int]?]
    /// The provider's paths of directories here in which new and moved items lie, by local path.
    package var directories: [RelativePath: RelativePath]
    /// How many were left out.
    package var skipped: Int
    /// Where the next part begins; nil when this was the last.
    package var next: PendingCursor?
    /// With the last part: when the oldest of what is too young yet changed.
    package var nextChange: FileTime?
    /// The same for deletions.
    package var nextDeletion: FileTime?
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
    /// Whether nothing waits for it: the user is told, and all the same everything is as it should be.
    package var isNotice: Bool

    package init(
        subject: ParkedSubject, path: RelativePath, message: String, since: FileTime, isNotice: Bool = false
    ) {
        self.subject = subject
        self.path = path
        self.message = message
        self.since = since
        self.isNotice = isNotice
    }
}
