package import Logging
package import QuireCore
import Synchronization

/// Keeps documents as plain objects in a bucket of an S3-compatible store.
///
/// What the store does with conditions is found by trying it when connecting (`S3Probe`), never by its name. An object's
/// version is its entity tag. Directories are what lies below them, and a marker (an empty object whose key ends with a
/// slash) for each that Quire made. `.quire/store.json` says which store it is; without it the bucket counts as not there.
/// The limits are in `Documentation/Providers.md`.
///
/// Nothing blocks: requests wait as tasks, files are read and written on threads of the transport's.
package final class S3Provider: DocumentProvider {
    struct State {
        var abilities = S3Abilities()
        /// Directories that were there when last seen, so that not every upload asks for its own.
        var directories: Set<RelativePath> = []
        /// Nil before the store was tried, and where everything is listed each time.
        var feed: ChangeFeed?
        /// The store was found, and has no room to try what it can do.
        var isUntried = false
    }

    let client: S3Client
    let logger: Logger
    let haste = S3Haste()
    /// In bytes: what is larger goes in parts to its own key.
    let mostInOne: Int64
    private let presence: StorePresence
    private let pace: ListingPace?
    /// Innermost lock.
    let state = Lock(State())

    /// - Parameter pace: how often everything is listed, for devices that tell each other what they change; nil: each time.
    package convenience init(
        client: S3Client, pace: ListingPace? = nil, logger: Logger = Logger(label: "quire-s3")
    ) {
        self.init(client: client, pace: pace, mostInOne: S3Upload.mostInOne, logger: logger)
    }

    /// - Parameter mostInOne: most bytes of one request, and of one copy.
    init(
        client: S3Client, pace: ListingPace? = nil, mostInOne: Int64, logger: Logger = Logger(label: "quire-s3")
    ) {
        self.client = client
        self.pace = pace
        self.mostInOne = mostInOne
        self.logger = logger
        presence = StorePresence(place: client.address.place)
    }

    package var capabilities: ProviderCapabilities {
        var capabilities = abilities.capabilities
        capabilities.announcements = pace != nil
        if state.withLock({ $0.isUntried }) { capabilities.conditionalWrites = .untried }
        return capabilities
    }

    /// What gives names that were directories' to others.
    var vacancy: S3Vacancy { S3Vacancy(client: client, abilities: abilities) }

    /// What was found when connecting.
    package var abilities: S3Abilities { state.withLock { $0.abilities } }

    package func connect(expected: String?) async throws(ProviderError) -> String {
        try StorePresence.checkCancelled()
        _ = try await client.list(client.address.key(StoreLayout.control), limit: 1)
        var found = try await readIdentity()
        if let expected, found?.identity != expected { throw presence.another(found) }
        if let identity = found?.identity, presence.isKnown(identity, capabilities) { return identity }
        do throws(ProviderError) {
            let abilities = try await S3Probe.run(client)
            use(abilities)
            if found == nil { found = try await createIdentity(abilities) }
        } catch {
            guard error.code == .noSpace, found != nil else { throw error }
            // Its documents can be read all the same.
            state.withLock { $0 = State(isUntried: true) }
        }
        guard let identity = found?.identity else { throw presence.another(nil) }
        presence.found(identity)
        haste.found(begun: await S3Sweep(client: client).run())
        return identity
    }

    /// Relies on what the store was found to be able to do.
    private func use(_ abilities: S3Abilities) {
        let records = S3ChangeRecords(client: client, createsOnce: abilities.createsOnce)
        let feed = pace.map { ChangeFeed(records, pace: $0) }
        state.withLock { $0 = State(abilities: abilities, directories: $0.directories, feed: feed) }
    }

    /// The beginning of every call that changes something. What was never tried is tried then.
    ///
    /// - Throws: as `checkConnected`; `.noSpace` while there is no room to try it; as `tryLate`.
    func checkWritable() async throws(ProviderError) {
        try checkConnected()
        if state.withLock({ $0.isUntried }) { try await tryLate() }
    }

    /// - Throws: `.unavailable` where an update may be lost: whether that is accepted is decided when it is connected anew.
    private func tryLate() async throws(ProviderError) {
        let found = try await S3Probe.run(client)
        guard found.capabilities.conditionalWrites == .detected else { return use(found) }
        presence.lost()
        throw ProviderError(.unavailable, "\(client.address.place) has room again, and may lose an update")
    }

    /// The beginning of a deletion, which needs no room: what a full store does with conditions on it is tried by itself.
    ///
    /// - Throws: as `checkConnected`; `.noSpace` where that cannot be tried either; as `tryLate`.
    func checkDeletable() async throws(ProviderError) {
        try checkConnected()
        guard state.withLock({ $0.isUntried && !$0.abilities.deletesChecked }) else { return }
        do throws(ProviderError) {
            try await tryLate()
        } catch let refusal {
            guard refusal.code == .noSpace, let found = try await S3DeletionProbe(client: client).run() else {
                throw refusal
            }
            state.withLock { if $0.isUntried { $0.abilities = found } }
        }
    }

    package func freeSpace() async throws(ProviderError) -> ByteCount? {
        try checkConnected()
        return nil
    }

    /// Every call's beginning.
    func checkConnected() throws(ProviderError) { try presence.check() }

    /// See `StorePresence.confirm`.
    func confirm(always: Bool = false) async throws(ProviderError) {
        try await presence.confirm(always: always) { () throws(ProviderError) in try await readIdentity() }
    }

    private func readIdentity() async throws(ProviderError) -> StoreMark? {
        let key = client.address.key(StoreLayout.mark)
        guard let bytes = try await client.get(key, limit: StoreMark.longestAnswer) else { return nil }
        return try StoreMark(bytes, at: client.address.place, isAnswer: true)
    }

    /// Writes a new mark unless another device was first, and returns the one that is there then.
    private func createIdentity(_ abilities: S3Abilities) async throws(ProviderError) -> StoreMark? {
        let condition: S3Client.Condition = abilities.createsOnce ? .absent : .none
        let answer = try await client.put(
            client.address.key(StoreLayout.mark), .bytes(StoreMark.fresh().bytes), condition)
        guard answer.isSuccess || answer.status == 412 || answer.status == 409 else {
            throw client.error(answer, "\(client.address.place) cannot be set up")
        }
        return try await readIdentity()
    }
}
