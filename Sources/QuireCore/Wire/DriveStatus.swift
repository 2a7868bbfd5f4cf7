/// What `status` answers; `quire status --json` prints exactly these members.
package struct DriveStatus: Codable, Sendable, Hashable {
    /// Whether a daemon serves the drive.
    package enum State: String, Codable, Sendable {
        case mounted, stopped
    }

    /// A failure that is parked and retried, or that stopped the daemon from an item.
    package struct Problem: Codable, Sendable, Hashable {
        package var path: WirePath
        package var message: String
        package var since: WireTime

        package init(path: WirePath, message: String, since: WireTime) {
            self.path = path
            self.message = message
            self.since = since
        }
    }

    /// A provider and whether it answered last.
    package struct Provider: Codable, Sendable, Hashable {
        package var name: String
        package var url: String
        package var online: Bool

        package init(name: String, url: String, online: Bool) {
            self.name = name
            self.url = url
            self.online = online
        }
    }

    package var home: String
    /// Null when stopped.
    package var mountpoint: String?
    /// The device's display name.
    package var device: String
    package var state: State
    package var items: Int
    package var pending: PendingCounts
    package var conflicts: Int
    /// Deletions that are not believed until `quire sync --confirm-deletes`; missing from older daemons.
    package var heldDeletions: Int?
    package var errors: [Problem]
    package var providers: [Provider]
    /// Whether reads and writes stay in the kernel.
    package var passthrough: Bool
    /// Whether store and index are still being compared after the start.
    package var rescanning: Bool
    /// True where content types are known by common extensions only, as no MIME database is installed; else missing.
    package var lacksMimeDatabase: Bool?

    package init(
        home: String, mountpoint: String?, device: String, state: State, items: Int = 0,
        pending: PendingCounts = .init(),
        conflicts: Int = 0, heldDeletions: Int = 0, errors: [Problem] = [], providers: [Provider] = [],
        passthrough: Bool = false,
        rescanning: Bool = false, lacksMimeDatabase: Bool = false
    ) {
        self.home = home
        self.mountpoint = mountpoint
        self.device = device
        self.state = state
        self.items = items
        self.pending = pending
        self.conflicts = conflicts
        self.heldDeletions = heldDeletions
        self.errors = errors
        self.providers = providers
        self.passthrough = passthrough
        self.rescanning = rescanning
        self.lacksMimeDatabase = lacksMimeDatabase ? true : nil
    }

    private enum CodingKeys: CodingKey {
        case home, mountpoint, device, state, items, pending, conflicts, heldDeletions, errors, providers, passthrough,
            rescanning, lacksMimeDatabase
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(home, forKey: .home)
        try container.encode(mountpoint, forKey: .mountpoint)
        try container.encode(device, forKey: .device)
        try container.encode(state, forKey: .state)
        try container.encode(items, forKey: .items)
        try container.encode(pending, forKey: .pending)
        try container.encode(conflicts, forKey: .conflicts)
        try container.encode(heldDeletions ?? 0, forKey: .heldDeletions)
        try container.encode(errors, forKey: .errors)
        try container.encode(providers, forKey: .providers)
        try container.encode(passthrough, forKey: .passthrough)
        try container.encode(rescanning, forKey: .rescanning)
        try container.encodeIfPresent(lacksMimeDatabase, forKey: .lacksMimeDatabase)
    }
}

/// How many items wait for what.
package struct PendingCounts: Codable, Sendable, Hashable {
    package var upload: Int
    package var download: Int
    package var delete: Int
    package var rename: Int

    package init(upload: Int = 0, download: Int = 0, delete: Int = 0, rename: Int = 0) {
        self.upload = upload
        self.download = download
        self.delete = delete
        self.rename = rename
    }

    /// All of them.
    package var total: Int { upload + download + delete + rename }
}

/// How a `sync` ended.
package struct SyncReport: Codable, Sendable, Hashable {
    /// The word that decides the exit code.
    package enum End: String, Codable, Sendable {
        /// Nothing is pending.
        case clean
        /// Conflicts or parked errors remain.
        case unresolved
        /// A provider does not answer.
        case unreachable
        case timedOut
        /// Deletions are held back until they are confirmed.
        case deletesHeld
    }

    package var end: End
    package var pending: PendingCounts
    package var conflicts: Int
    package var errors: [DriveStatus.Problem]
    /// What a person should know, one sentence each.
    package var messages: [String]

    package init(
        end: End, pending: PendingCounts, conflicts: Int, errors: [DriveStatus.Problem], messages: [String] = []
    ) {
        self.end = end
        self.pending = pending
        self.conflicts = conflicts
        self.errors = errors
        self.messages = messages
    }
}
