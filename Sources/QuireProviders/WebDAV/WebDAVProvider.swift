package import Logging
package import QuireCore
import Synchronization

/// Keeps documents as plain files at a WebDAV server (RFC 4918).
///
/// What the server can do is found by trying it when connecting (`DAVProbe`), never by its name. Several devices change
/// the account under locks of their own names (`DAVClient.withLocks`): compare, write, look. Where the server also checks
/// a condition or respects a lock, a program that is not Quire is kept from slipping in between; where it does neither,
/// such a program may. Without locks a lost update is at most noticed afterwards: `capabilities.conditionalWrites` is
/// `.detected`.
///
/// `.quire/store.json` says which store it is; without it the account counts as not there. The limits of what a server can
/// be held to are in `Documentation/Providers.md`.
///
/// Nothing blocks: requests wait as tasks, files are read and written on threads of the transport's.
package final class WebDAVProvider: DocumentProvider {
    private struct Found {
        var abilities = DAVAbilities.unprobed
        /// Nil before the account was found, and where everything is listed each time.
        var feed: ChangeFeed?
        let tagTrees = DAVTagTrees()
        /// There was room to try everything.
        var isTried = false
        var deepListings = DAVDeepListings()
        /// Looks for changes since something was tried again that the server could not be asked about.
        var looks = 0
        /// After how many of them it is tried the next time.
        var trialAfter = 2
    }

    let client: DAVClient
    let logger: Logger
    let removals = DAVRemovals()
    private let presence: StorePresence
    /// What was found when connecting. Innermost lock.
    private let found = Lock(Found())
    private let pace: ListingPace?

    /// - Parameters:
    ///   - transport: to the server, with what proves who asks.
    ///   - base: percent-encoded path of the account's root; a collection that is there.
    ///   - pace: how often everything is listed, for devices that tell each other what they change; nil: each time.
    package convenience init(
        transport: HTTPTransport, base: String, pace: ListingPace? = nil, logger: Logger = Logger(label: "quire-webdav")
    ) {
        let address = DAVAddress(origin: transport.origin, base: base)
        self.init(client: DAVClient(transport: transport, address: address), pace: pace, logger: logger)
    }

    init(client: DAVClient, pace: ListingPace? = nil, logger: Logger = Logger(label: "quire-webdav")) {
        self.pace = pace
        self.client = client
        self.logger = logger
        presence = StorePresence(place: client.address.place)
    }

    package var capabilities: ProviderCapabilities {
        var capabilities = abilities.capabilities
        capabilities.announcements = pace != nil
        capabilities.tellsChanges = pace != nil && abilities.journal != nil
        return capabilities
    }

    var abilities: DAVAbilities { found.withLock { $0.abilities } }
    /// See `Found`.
    var feed: ChangeFeed? { found.withLock { $0.feed } }

    /// The server's own account of what changed; nil where it gives none.
    var journal: (any ChangeJournal)? {
        let (journal, stamps, trees) = found.withLock { ($0.abilities.journal, $0.abilities.stamps, $0.tagTrees) }
        switch journal {
        case .tokens(let tellsAttributes):
            return DAVSyncJournal(
                client: client, tellsAttributes: tellsAttributes, stamps: stamps,
                listAll: { () async throws(ProviderError) in try await self.list() },
                confirm: { () async throws(ProviderError) in try await self.confirm(always: true) },
                withdraw: { self.withdrawJournal($0) })
        case .tags(let tellsAttributes):
            return DAVTagJournal(
                client: client, tellsAttributes: tellsAttributes, stamps: stamps, trees: trees,
                confirm: { () async throws(ProviderError) in try await self.confirm(always: true) })
        case nil: return nil
        }
    }

    /// What the probe found does not hold any more: from now on everything is listed, as where it finds nothing.
    private func withdrawJournal(_ answer: HTTPAnswer) {
        logger.info("the server does not tell what changed any more", metadata: ["status": "\(answer.status)"])
        found.withLock { $0.abilities.journal = nil }
    }

    /// As `withdrawJournal`, where it is time for that: from then on directories are listed one by one.
    func noteDeepListing(failure: ProviderError?) {
        let isOver = found.withLock { found in
            let isOver = found.deepListings.isOver(after: failure)
            if isOver { found.abilities.listsAll = false }
            return isOver
        }
        guard isOver, let failure else { return }
        logger.info("the server does not list everything any more", metadata: ["error": "\(failure)"])
    }

    /// That entity tags are not used: see `DAVEntityTags`.
    private static let withoutTags = "without entity tags"

    package var decision: String? { client.entityTags.areIgnored ? Self.withoutTags : nil }

    package func recall(_ decision: String) { if decision == Self.withoutTags { client.entityTags.ignore() } }

    package func connect(expected: String?) async throws(ProviderError) -> String {
        try StorePresence.checkCancelled()
        guard try await client.propfind(.root, depth: "0", body: DAVBodies.root) != nil else {
            throw ProviderError(.unavailable, "\(place) is not there: the server knows no such collection")
        }
        var found = try await DAVIdentity.read(client)
        if let expected, found?.identity != expected { throw presence.another(found) }
        if let identity = found?.identity, presence.isKnown(identity, capabilities) {
            await settleAbilities(always: true)
            return identity
        }
        for path in [StoreLayout.control, StoreLayout.temporary, StoreLayout.changes, DAVLayout.locks] {
            try await makeOwn(path)
        }
        do throws(ProviderError) {
            let abilities = try await tryOut()
            if found == nil { found = try await DAVIdentity.create(client, abilities) }
        } catch {
            guard error.code == .noSpace, found != nil else { throw error }
            try await tryWithoutRoom(error)
        }
        guard let identity = found?.identity else { throw presence.another(nil) }
        try await takeUpRemovals()
        presence.found(identity)
        await DAVSweep.run(client)
        return identity
    }

    @discardableResult
    private func tryOut() async throws(ProviderError) -> DAVAbilities {
        let abilities = try await DAVProbe.run(client)
        begin(abilities, isTried: true)
        return abilities
    }

    /// An account that is full can be read; and with locks, which need no room, documents are moved and removed in it.
    ///
    /// - Parameter refusal: thrown where it has none.
    private func tryWithoutRoom(_ refusal: ProviderError) async throws(ProviderError) {
        var abilities = DAVAbilities()
        abilities.locks = try await DAVProbe.hasLocks(client)
        abilities.hidesDotNames = try await DAVProbe.hidesDotNames(client)
        abilities.isTimeBased = true
        guard abilities.locks else { throw refusal }
        try await DAVLookTrial(client: client, path: StoreLayout.mark, directory: StoreLayout.control).run()
        abilities.history = try await DAVProbe.history(client, &abilities.isUnsettled)
        begin(abilities, isTried: false)
    }

    /// Tries again what the server could not be asked about and no document depends on: when it is found again, and with some
    /// of the looks for changes. All else is as it was found when connecting.
    func settleAbilities(always: Bool = false) async {
        let unsettled = found.withLock { found -> DAVAbilities? in
            guard found.abilities.isUnsettled, found.isTried else { return nil }
            found.looks += 1
            guard always || found.looks >= found.trialAfter else { return nil }
            (found.looks, found.trialAfter) = (0, min(256, found.trialAfter * 2))
            return found.abilities
        }
        guard let unsettled else { return }
        do throws(ProviderError) {
            let tried = try await DAVProbe.again(client, unsettled)
            // Unless all was found anew meanwhile.
            found.withLock { if $0.abilities == unsettled { $0.abilities = tried } }
        } catch {
            logger.info("the server could not be tried again", metadata: ["error": "\(error)"])
        }
    }

    private func begin(_ abilities: DAVAbilities, isTried: Bool) {
        let feed = pace.map { ChangeFeed(DAVChangeRecords(client: client, abilities: abilities), pace: $0) }
        found.withLock { $0 = Found(abilities: abilities, feed: feed, isTried: isTried) }
    }

    /// The beginning of every call that needs room. What could not be tried for want of it is tried then.
    ///
    /// - Throws: as `checkConnected`; `.noSpace` while there is no room to try it.
    func checkRoom() async throws(ProviderError) {
        try checkConnected()
        if !found.withLock({ $0.isTried }) { try await tryOut() }
    }

    package func freeSpace() async throws(ProviderError) -> ByteCount? {
        try checkConnected()
        let found = try await client.propfind(.root, depth: "0", body: DAVBodies.quota)
        guard let bytes = found?.first(where: { $0.path.isRoot })?.resource.freeBytes, bytes >= 0 else { return nil }
        return ByteCount(bytes)
    }

    /// Where this is, for people.
    var place: String { client.address.place }

    /// Every call's beginning.
    func checkConnected() throws(ProviderError) { try presence.check() }

    /// Refuses paths that are Quire's own, are no paths, are the root, or have names that the server cannot hold.
    func validate(_ path: RelativePath) throws(ProviderError) {
        if path.isRoot { throw ProviderError(.invalidName, "the account's root itself cannot be changed") }
        try validateReading(path)
    }

    /// As `validate`; the root may be read.
    func validateReading(_ path: RelativePath) throws(ProviderError) {
        try MemoryNames.validateReading(path, capabilities)
        if abilities.lowersNames, let name = path.components.first(where: { $0.lowercased != $0 }) {
            throw ProviderError(
                .invalidName,
                "\(path): this server turns the upper-case letters of \(name) into lower-case ones; rename it")
        }
        guard abilities.hidesDotNames, path.components.contains(where: { $0.bytes.first == 0x2E }) else { return }
        throw ProviderError(.invalidName, "\(path): this server lists no names that begin with a dot; rename it")
    }

    /// See `StorePresence.confirm`.
    func confirm(always: Bool = false) async throws(ProviderError) {
        try await presence.confirm(always: always) { () throws(ProviderError) in try await DAVIdentity.read(client) }
    }

    /// Makes a collection of Quire's own where it is missing; whether it was.
    @discardableResult
    func makeOwn(_ path: RelativePath) async throws(ProviderError) -> Bool {
        if try await client.propfind(path, depth: "0", isDirectory: true) != nil { return false }
        let answer = try await client.makeCollection(path)
        // 405: another device was faster.
        guard answer.isSuccess || answer.status == 405 else {
            throw client.transport.error(answer, "\(place) cannot be written to")
        }
        return true
    }
}
