package import QuireCore

/// The directory that an item lies in, as something that keeps its identity when that directory is renamed.
package enum Node: Sendable, Hashable {
    /// The container's root.
    case root
    /// A directory that the provider acknowledged, by the base path it has now.
    case base(RelativePath)
    /// A directory that only the provider has, by its remote path. A local one that was found at the same place is the same.
    case remote(RelativePath)
    /// A directory that only this device has, by its path below the container's root.
    case local(RelativePath)
}

/// Where an item is: a directory and a name in it. Renaming the directory changes no place below it.
package struct Place: Sendable, Hashable {
    package var parent: Node
    package var name: FileName

    package init(_ parent: Node, _ name: FileName) {
        self.parent = parent
        self.name = name
    }
}

/// What an item consists of, apart from where it is: the same for base, local and remote.
package struct ItemFacts: Sendable, Hashable {
    package var kind: FileKind
    /// 0 for directories.
    package var size: Int64
    /// Nil where it is not known without reading the content.
    package var checksum: ContentChecksum?
    /// For symlinks only.
    package var symlinkTarget: [UInt8]?
    package var mtime: FileTime
    /// Nil where the provider keeps none.
    package var mode: UInt16?
    /// Nil where the provider keeps none, or they are not known.
    package var tags: [String]?

    package init(
        kind: FileKind, size: Int64, checksum: ContentChecksum? = nil, symlinkTarget: [UInt8]? = nil, mtime: FileTime,
        mode: UInt16?, tags: [String]? = nil
    ) {
        self.kind = kind
        self.size = size
        self.checksum = checksum
        self.symlinkTarget = symlinkTarget
        self.mtime = mtime
        self.mode = mode
        self.tags = tags
    }

    package init(_ base: BaseRecord) {
        self.init(
            kind: base.kind, size: base.kind == .file ? base.size : 0, checksum: base.checksum,
            symlinkTarget: base.symlinkTarget, mtime: base.mtime, mode: base.mode, tags: base.tags)
    }

    package init(_ remote: RemoteItem) {
        self.init(
            kind: remote.kind, size: remote.kind == .file ? remote.size.bytes : 0, checksum: remote.checksum,
            symlinkTarget: remote.symlinkTarget, mtime: remote.mtime, mode: remote.mode,
            tags: remote.toldTags)
    }

    /// The same, of an item with this base.
    ///
    /// - Parameter keepsAttributes: see `TreeDiff`.
    package init(_ remote: RemoteItem, knowing base: BaseRecord?, keepsAttributes: Bool) {
        self.init(remote)
        // Those that were sent with a version are known once; those of a listing are the provider's own.
        guard !keepsAttributes, let base, base.version == remote.version, remote.mode == nil || base.mode != nil else {
            return
        }
        (mtime, mode) = (base.mtime, base.mode)
    }
}

/// What the provider last acknowledged.
package struct BaseState: Sendable, Hashable {
    package var place: Place
    package var version: ProviderVersion
    package var facts: ItemFacts

    package init(place: Place, version: ProviderVersion, facts: ItemFacts) {
        self.place = place
        self.version = version
        self.facts = facts
    }

    /// False for a directory that the index made up above something whose place at the provider it was told.
    var isKnown: Bool { !version.rawValue.isEmpty }
}

/// What the provider has now.
package struct RemoteState: Sendable, Hashable {
    package var place: Place
    package var version: ProviderVersion
    package var facts: ItemFacts

    package init(place: Place, version: ProviderVersion, facts: ItemFacts) {
        self.place = place
        self.version = version
        self.facts = facts
    }

    /// Whether a push has moved it out of the way of another item, and was not done yet.
    package var isInTransit: Bool { TransitName.matches(place.name) }
}

/// What this device has now.
package struct LocalState: Sendable, Hashable {
    package enum Content: Sendable, Hashable {
        /// The fingerprint is the acknowledged one.
        case asBase
        /// Differs from the base, or there is no base to compare with. A directory: made anew since.
        case changed
        /// A placeholder, for what is told: there is no content here that could be lost.
        case dataless(Stand)
    }

    /// What a placeholder stands for, as far as it is asked. With a base it stands for that, whatever it says.
    package enum Stand: Sendable, Hashable {
        /// It was not asked, or does not say.
        case unknown
        /// A version of the container's provider.
        case version(ProviderVersion)
        /// What another container's provider has: the placeholder says where that is, and nothing else may.
        case elsewhere
    }

    package var place: Place
    package var content: Content
    package var facts: ItemFacts
    /// Never uploaded: ephemeral names, FIFOs, sockets, devices.
    package var isLocalOnly: Bool

    package init(place: Place, content: Content, facts: ItemFacts, isLocalOnly: Bool = false) {
        self.place = place
        self.content = content
        self.facts = facts
        self.isLocalOnly = isLocalOnly
    }

    /// Whether a pull has moved it out of the way of another item, and was not done yet.
    package var isInTransit: Bool { TransitName.matches(place.name) }
}
