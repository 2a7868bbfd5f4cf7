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
        /// Why it does not answer, in words; missing while it does, or before it was asked.
        package var message: String?

        package init(name: String, url: String, online: Bool, message: String? = nil) {
            self.name = name
            self.url = url
            self.online = online
            self.message = message
        }
    }

    /// A change that is not at the provider yet.
    package struct Waiting: Codable, Sendable, Hashable {
        package var path: WirePath
        /// `settling`, `open`, `parked`, `full`, `offline`, `paused`, `uploading` or `queued`; of one item `held` and `stopped`, too.
        package var reason: String
        /// In the provider's words; missing where there is nothing to add.
        package var message: String?
        /// When it is tried next; missing where no time decides.
        package var until: WireTime?

        package init(path: WirePath, reason: String, message: String?, until: WireTime?) {
            self.path = path
            self.reason = reason
            self.message = message
            self.until = until
        }
    }

    /// That nothing is sent, and only fetched what is opened.
    package struct Pause: Codable, Sendable, Hashable {
        /// When it ends by itself; missing where only `quire resume` ends it.
        package var until: WireTime?

        package init(until: WireTime?) { self.until = until }
    }

    /// How the content that is here stands with the drive's limits; all in bytes.
    package struct Space: Codable, Sendable, Hashable {
        /// What content takes here.
        package var used: Int64
        /// Most that it may take; missing without such a limit.
        package var limit: Int64?
        /// What is to stay free on the store's file system; missing where nothing is.
        package var keepFree: Int64?
        /// What programs may add until they get ENOSPC, everything evicted that can be; missing when stopped.
        package var left: Int64?

        package init(used: Int64, limit: Int64?, keepFree: Int64?, left: Int64?) {
            self.used = used
            self.limit = limit
            self.keepFree = keepFree
            self.left = left
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
    /// Those, by who misses them; missing where there are none, and from older daemons.
    package var held: [Held]?
    /// 200 at most.
    package var errors: [Problem]
    /// How many more there are; missing where that is none.
    package var errorsMore: Int?
    package var providers: [Provider]
    /// Whether reads and writes stay in the kernel.
    package var passthrough: Bool
    /// Whether store and index are still being compared after the start.
    package var rescanning: Bool
    /// True where content types are known by common extensions only, as no MIME database is installed; else missing.
    package var lacksMimeDatabase: Bool?
    /// Missing where the drive has no limits.
    package var space: Space?
    /// Missing while the drive is not paused.
    package var paused: Pause?
    /// The oldest of what is not at the providers yet, 100 at most, and what each waits for; missing where nothing is.
    package var waiting: [Waiting]?

    package init(
        home: String, mountpoint: String?, device: String, state: State, items: Int = 0,
        pending: PendingCounts = .init(),
        conflicts: Int = 0, heldDeletions: Int = 0, held: [Held] = [], errors: [Problem] = [], errorsMore: Int = 0,
        providers: [Provider] = [], passthrough: Bool = false,
        rescanning: Bool = false, lacksMimeDatabase: Bool = false, space: Space? = nil, paused: Pause? = nil,
        waiting: [Waiting] = []
    ) {
        self.home = home
        self.mountpoint = mountpoint
        self.device = device
        self.state = state
        self.items = items
        self.pending = pending
        self.conflicts = conflicts
        self.heldDeletions = heldDeletions
        self.held = held.isEmpty ? nil : held
        self.errors = errors
        self.errorsMore = errorsMore > 0 ? errorsMore : nil
        self.providers = providers
        self.passthrough = passthrough
        self.rescanning = rescanning
        self.lacksMimeDatabase = lacksMimeDatabase ? true : nil
        self.space = space
        self.paused = paused
        self.waiting = waiting.isEmpty ? nil : waiting
    }

    private enum CodingKeys: CodingKey {
        case home, mountpoint, device, state, items, pending, conflicts, heldDeletions, held, errors, errorsMore,
            providers, passthrough, rescanning, lacksMimeDatabase, space, paused, waiting
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
        try container.encodeIfPresent(held, forKey: .held)
        try container.encode(errors, forKey: .errors)
        try container.encodeIfPresent(errorsMore, forKey: .errorsMore)
        try container.encode(providers, forKey: .providers)
        try container.encode(passthrough, forKey: .passthrough)
        try container.encode(rescanning, forKey: .rescanning)
        try container.encodeIfPresent(lacksMimeDatabase, forKey: .lacksMimeDatabase)
        try container.encodeIfPresent(space, forKey: .space)
        try container.encodeIfPresent(paused, forKey: .paused)
        try container.encodeIfPresent(waiting, forKey: .waiting)
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
        /// The drive is paused.
        case paused
        /// Deletions are held back until they are confirmed.
        case deletesHeld
    }

    package var end: End
    package var pending: PendingCounts
    package var conflicts: Int
    /// 200 at most.
    package var errors: [DriveStatus.Problem]
    /// How many more there are; missing where that is none.
    package var errorsMore: Int?
    /// As in `DriveStatus`.
    package var held: [DriveStatus.Held]?
    /// What a person should know, one sentence each.
    package var messages: [String]

    package init(
        end: End, pending: PendingCounts, conflicts: Int, errors: [DriveStatus.Problem], errorsMore: Int = 0,
        held: [DriveStatus.Held] = [], messages: [String] = []
    ) {
        self.end = end
        self.pending = pending
        self.conflicts = conflicts
        self.errors = errors
        self.errorsMore = errorsMore > 0 ? errorsMore : nil
        self.held = held.isEmpty ? nil : held
        self.messages = messages
    }
}
