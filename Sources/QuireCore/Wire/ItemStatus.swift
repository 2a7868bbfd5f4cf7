/// How one item stands; `quire status --json PATH` prints exactly these members.
package struct ItemStatus: Codable, Sendable, Hashable {
    package var path: WirePath
    package var id: ItemID
    package var kind: FileKind
    package var size: Int64
    package var state: ItemState
    /// The provider's version; null while it has none.
    package var version: ProviderVersion?
    /// The provider's name in the configuration.
    package var provider: String
    package var container: ContainerID
    package var pinned: Bool
    /// Bytes of content that are here.
    package var materialized: Int64
    /// What it waits for; missing where it waits for nothing, and where an answer tells of many items.
    package var waiting: DriveStatus.Waiting?

    package init(
        path: WirePath, id: ItemID, kind: FileKind, size: Int64, state: ItemState, version: ProviderVersion?,
        provider: String, container: ContainerID, pinned: Bool, materialized: Int64,
        waiting: DriveStatus.Waiting? = nil
    ) {
        self.path = path
        self.id = id
        self.kind = kind
        self.size = size
        self.state = state
        self.version = version
        self.provider = provider
        self.container = container
        self.pinned = pinned
        self.materialized = materialized
        self.waiting = waiting
    }

    private enum CodingKeys: CodingKey {
        case path, id, kind, size, state, version, provider, container, pinned, materialized, waiting
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(path, forKey: .path)
        try values.encode(id, forKey: .id)
        try values.encode(kind, forKey: .kind)
        try values.encode(size, forKey: .size)
        try values.encode(state, forKey: .state)
        try values.encode(version, forKey: .version)
        try values.encode(provider, forKey: .provider)
        try values.encode(container, forKey: .container)
        try values.encode(pinned, forKey: .pinned)
        try values.encode(materialized, forKey: .materialized)
        try values.encodeIfPresent(waiting, forKey: .waiting)
    }
}

/// All metadata of one item.
package struct ItemInfo: Codable, Sendable, Hashable {
    package var status: ItemStatus
    package var modified: WireTime
    /// When content or attributes last changed in the store.
    package var changed: WireTime
    /// Permission bits in octal, as `chmod` takes them.
    package var mode: String
    package var tags: [String]
    /// SHA-256 that the provider's version has, where known.
    package var checksum: ContentChecksum?
    /// Paths of conflict copies beside it.
    package var conflicts: [WirePath]
    /// The parked error, if there is one.
    package var error: DriveStatus.Problem?
    package var symlinkTarget: String?
    package var details: ItemDetails

    package init(
        status: ItemStatus, details: ItemDetails, modified: WireTime, changed: WireTime, mode: String,
        tags: [String] = [],
        checksum: ContentChecksum? = nil, conflicts: [WirePath] = [], error: DriveStatus.Problem? = nil,
        symlinkTarget: String? = nil
    ) {
        self.status = status
        self.details = details
        self.modified = modified
        self.changed = changed
        self.mode = mode
        self.tags = tags
        self.checksum = checksum
        self.conflicts = conflicts
        self.error = error
        self.symlinkTarget = symlinkTarget
    }

    private enum CodingKeys: CodingKey {
        case modified, changed, mode, tags, checksum, conflicts, error, symlinkTarget
    }

    /// One object: the members of the status and the rest beside them.
    package func encode(to encoder: any Encoder) throws {
        try status.encode(to: encoder)
        try details.encode(to: encoder)
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(modified, forKey: .modified)
        try values.encode(changed, forKey: .changed)
        try values.encode(mode, forKey: .mode)
        try values.encode(tags, forKey: .tags)
        try values.encodeIfPresent(checksum, forKey: .checksum)
        try values.encode(conflicts, forKey: .conflicts)
        try values.encodeIfPresent(error, forKey: .error)
        try values.encodeIfPresent(symlinkTarget, forKey: .symlinkTarget)
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            status: try ItemStatus(from: decoder), details: try ItemDetails(from: decoder),
            modified: try values.decode(WireTime.self, forKey: .modified),
            changed: try values.decode(WireTime.self, forKey: .changed),
            mode: try values.decode(String.self, forKey: .mode),
            tags: try values.decode([String].self, forKey: .tags),
            checksum: try values.decodeIfPresent(ContentChecksum.self, forKey: .checksum),
            conflicts: try values.decode([WirePath].self, forKey: .conflicts),
            error: try values.decodeIfPresent(DriveStatus.Problem.self, forKey: .error),
            symlinkTarget: try values.decodeIfPresent(String.self, forKey: .symlinkTarget))
    }
}
