/// One thing that happened to the store, in the order in which it happened.
///
/// Directories are named by their inode in the store (unique: a directory has one name), everything else by the inode of
/// its directory and its name. The store's root directory has an inode like any other. Each status was read after the
/// operation.
package enum StoreEvent: Sendable, Hashable {
    /// A new entry: create, mkdir, mknod, symlink, or link of an inode that has other names.
    case created(parent: UInt64, name: FileName, FileStatus)
    /// An entry went away. `wasLast` when no name of that inode is left.
    case removed(parent: UInt64, name: FileName, inode: UInt64)
    /// A rename. Whatever was at the target is gone (`replaced` is its inode); for an exchange both entries stay.
    case renamed(Rename)
    /// Content may have changed: a write handle was flushed or closed, a truncate, a fallocate.
    /// `writersOpen`: a write handle is still open, so the item cannot be clean yet.
    case contentChanged(FileStatus, writersOpen: Bool)
    /// Attributes changed and content did not: chmod, chown, utimens, setxattr, link count.
    /// `writersOpen`: as above; then content may have changed as well. `setsTimes`: mtime may be another for this; otherwise
    /// one that is another tells of a write.
    case attributesChanged(FileStatus, writersOpen: Bool, setsTimes: Bool = false)
    /// The sync engine's own change was committed into the store, and this is what the provider has of it now.
    case committed(Commit)
    /// An upload is about to begin; to be committed before it does.
    case uploading(UploadIntent)
    /// The provider acknowledged an item's local state.
    case acknowledged(Acknowledgement)
    /// The provider has nothing of this item any more (its deletion was acknowledged, or seen).
    case baseRemoved(container: ContainerID, path: RelativePath)
    /// Items are about to be removed here, of which the provider has nothing any more; to be committed before they are. A daemon
    /// that ends before it has recorded what it removed has not deleted it: nothing is to be deleted at the provider, should
    /// that have it again. The paths are those of bases; what an earlier one named and is still here stays.
    case removing(container: ContainerID, paths: [RelativePath])
    /// The provider renamed an item, with all below it when it is a directory.
    case baseMoved(container: ContainerID, from: RelativePath, BaseRecord)
    /// The checksum of an item's content was counted, which is that of this version at the provider; ignored where the provider has
    /// another by now, or one was known.
    case counted(item: ItemID, version: ProviderVersion, ContentChecksum)

    package struct Rename: Sendable, Hashable {
        package var fromParent: UInt64
        package var fromName: FileName
        package var toParent: UInt64
        package var toName: FileName
        /// Of the entry now at the target.
        package var status: FileStatus
        /// The inode that was replaced, nil when the target was free.
        package var replaced: UInt64?
        /// RENAME_EXCHANGE: the status of the entry now at the source.
        package var exchanged: FileStatus?
        /// A write handle of the moved item is open.
        package var writersOpen: Bool

        package init(
            fromParent: UInt64, fromName: FileName, toParent: UInt64, toName: FileName, status: FileStatus,
            replaced: UInt64? = nil, exchanged: FileStatus? = nil, writersOpen: Bool = false
        ) {
            self.fromParent = fromParent
            self.fromName = fromName
            self.toParent = toParent
            self.toName = toName
            self.status = status
            self.replaced = replaced
            self.exchanged = exchanged
            self.writersOpen = writersOpen
        }
    }

    package struct Commit: Sendable, Hashable {
        /// What was done to the entry.
        package enum Change: Sendable, Hashable {
            /// A new entry, or another inode under the same name (a remote change, a download, an eviction).
            /// `dataless`: it is a placeholder.
            case installed(parent: UInt64, name: FileName, FileStatus, dataless: Bool)
            case moved(fromParent: UInt64, fromName: FileName, toParent: UInt64, toName: FileName, FileStatus)
            case removed(parent: UInt64, name: FileName, inode: UInt64)
            case attributes(FileStatus)
        }

        /// Where a commit's base lies at the provider.
        package enum BasePlace: Sendable, Hashable {
            /// At its path.
            case path
            /// In the directory that the entry came to, wherever that one's own base is so far: moves are followed one by one,
            /// and a path may be another directory's until all are.
            case directory
            /// Where the base of the entry is by now: it is the same document. The path is that of the moment when its content
            /// was asked for, and since then the provider may have moved it.
            case own
        }

        package var change: Change
        /// The provider's state that the entry now equals; nil to leave the base as it is (a conflict's copy being moved
        /// aside), and for `.removed`.
        package var base: BaseRecord?
        package var basePlace: BasePlace
        /// Of a file that lost a name, or has another one, and has others still: its ctime is another under those, too.
        package var otherNames: FileStatus?

        package init(_ change: Change, base: BaseRecord?, basePlace: BasePlace = .path, otherNames: FileStatus? = nil) {
            self.change = change
            self.base = base
            self.basePlace = basePlace
            self.otherNames = otherNames
        }
    }

    package struct Acknowledgement: Sendable, Hashable {
        package var item: ItemID
        package var base: BaseRecord
        /// The fingerprint of the local state that was uploaded. The item is clean only if it still has it.
        package var fingerprint: Fingerprint
        /// A write handle was open when the acknowledgement came: not clean whatever the fingerprint.
        package var writersOpen: Bool
        /// The fingerprint that the index had of the item before the uploaded state was read from the store; nil where that is
        /// not known. While the index has it still, no event came in between, and what was uploaded is the later state.
        package var known: Fingerprint?

        package init(
            item: ItemID, base: BaseRecord, fingerprint: Fingerprint, writersOpen: Bool, known: Fingerprint? = nil
        ) {
            self.item = item
            self.base = base
            self.fingerprint = fingerprint
            self.writersOpen = writersOpen
            self.known = known
        }
    }
}

/// Takes events in order. The driver and the sync engine write to it; the index reads from it.
package protocol StoreEventSink: Sendable {
    /// Queues `event`; never blocks on I/O, callable from any thread. Two calls ordered by happens-before keep their order.
    func record(_ event: StoreEvent)
}
