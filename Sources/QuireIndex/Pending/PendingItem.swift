package import QuireCore

/// Something whose local state is not what the provider has.
package struct PendingItem: Sendable, Hashable {
    /// Nil for what is no longer here.
    package var id: ItemID?
    package var container: ContainerID
    /// Below the container's root; nil when deleted (or moved out, or become local-only).
    package var path: RelativePath?
    package var kind: FileKind
    /// Nil when deleted.
    package var local: LocalRecord?
    /// Nil for what is new. Its path is where the provider has it.
    package var base: BaseRecord?
    package var difference: LocalDifference
    /// A handle is open for writing, as far as the events tell.
    package var writersOpen: Bool
    package var isPinned: Bool
    package var tags: [String]
    /// When it last changed here.
    package var since: FileTime
    package var parked: ParkedError?
    /// What has to be done before it or with it, as positions in the page: the new directory that it lies in, what leaves
    /// the place that it takes, what leaves the directory that is deleted.
    package var needs: [Int] = []
    /// Something that it needs is not on the page: it waits for another one.
    package var isIncomplete = false

    package var isCreated: Bool { difference.contains(.created) }
    package var isContentDirty: Bool { difference.contains(.content) }
    package var isMetadataDirty: Bool { difference.contains(.metadata) }
    package var isMoved: Bool { difference.contains(.moved) }
    package var isDeleted: Bool { difference.contains(.deleted) }

    /// What it is parked under.
    package var subject: ParkedSubject? { id.map { .item($0) } ?? base.map { .base(container, $0.path) } }
}

/// One entry of the base tree, and the local item linked to it.
package struct BaseEntry: Sendable, Hashable {
    package var base: BaseRecord
    /// Nil when it was deleted here. An item that is local-only now is here, with its flag.
    package var item: IndexItem?
}
