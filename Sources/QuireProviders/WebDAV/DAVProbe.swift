import QuireCore
import Synchronization

/// Finds out what an account can do by trying it on scratch files in `.quire/tmp`, and removes them again. What the server
/// calls itself is never asked: servers that answer 2xx to a condition they ignore are common.
///
/// An answer that proves nothing (`HTTPAnswer.provesNothing`) ends the probe: a server that is busy for a moment must not
/// be taken for one without locks. Of what no document depends on (`optional`) that is no reason to leave the account alone.
struct DAVProbe {
    private let client: DAVClient
    private let root: RelativePath
    private(set) var abilities = DAVAbilities()

    /// - Throws: where the account cannot be written to at all, in the server's words.
    static func run(_ client: DAVClient) async throws(ProviderError) -> DAVAbilities {
        try await trying(client, DAVAbilities()) { (probe) async throws(ProviderError) in try await probe.tryAll() }
    }

    /// Asks again about what no document depends on.
    ///
    /// - Returns: `abilities` with what is found of that; all else is as it was.
    static func again(_ client: DAVClient, _ abilities: DAVAbilities) async throws(ProviderError) -> DAVAbilities {
        try await trying(client, abilities) { (probe) async throws(ProviderError) in try await probe.tryOptional() }
    }

    private static func trying(
        _ client: DAVClient, _ abilities: DAVAbilities,
        _ body: (inout DAVProbe) async throws(ProviderError) -> Void
    ) async throws(ProviderError) -> DAVAbilities {
        var probe = DAVProbe(client: client, root: StoreLayout.staging())
        probe.abilities = abilities
        try await probe.make(probe.root)
        let result: Result<Void, ProviderError>
        do throws(ProviderError) { result = .success(try await body(&probe)) } catch { result = .failure(error) }
        await client.discard(probe.root, isDirectory: true)
        try result.get()
        return probe.abilities
    }

    /// Whether the server has locks, found without making anything: by locking one of the names that devices lock.
    static func hasLocks(_ client: DAVClient) async throws(ProviderError) -> Bool {
        let names = try await client.propfind(DAVLayout.locks, depth: "1", isDirectory: true) ?? []
        // Another device may hold one of them at this moment.
        for name in names.map(\.path).filter({ $0 != DAVLayout.locks }).shuffled().prefix(4) {
            var probe = DAVProbe(client: client, root: name)
            try await probe.tryLocks(name)
            if probe.abilities.locks { return true }
        }
        return false
    }

    /// Whether listings leave out names that begin with a dot, found without making anything: the drive's root has one.
    static func hidesDotNames(_ client: DAVClient) async throws(ProviderError) -> Bool {
        try await !(client.list(.root) ?? []).contains { $0.path == StoreLayout.control }
    }

    /// Where the server lists what it keeps of documents, found without making anything: it is asked about the drive's mark.
    ///
    /// - Parameter isUnsettled: set where the server did not answer that.
    static func history(_ client: DAVClient, _ isUnsettled: inout Bool) async throws(ProviderError) -> DAVHistory? {
        let told = try await client.propfind(StoreLayout.mark, depth: "0", body: DAVBodies.identified)
        guard let mark = told?.first(where: { $0.path == StoreLayout.mark }) else { return nil }
        return try await optional(client, &isUnsettled) { (_) throws(ProviderError) in
            try await DAVHistoryProbe(client: client).run(mark.resource)
        }
    }

    private static let secondTry = Duration.seconds(1)

    /// Asks twice for what no document depends on. A server that does not answer that although it answers, as where a proxy
    /// before it holds such questions up, is taken for one that cannot do it.
    ///
    /// - Parameters:
    ///   - isUnsettled: set where it did not answer.
    ///   - ask: given 0, and then 1.
    private static func optional<Value: Sendable>(
        _ client: DAVClient, _ isUnsettled: inout Bool, _ ask: (_ turn: Int) async throws(ProviderError) -> Value?
    ) async throws(ProviderError) -> Value? {
        for turn in 0..<2 {
            // Busy for a moment, perhaps.
            if turn > 0 { try await client.clock.pause(Self.secondTry) }
            do throws(ProviderError) { return try await ask(turn) } catch {
                guard error.code == .unavailable, try await client.propfind(.root, depth: "0") != nil else {
                    throw error
                }
            }
        }
        isUnsettled = true
        return nil
    }

    /// - Parameter root: a directory of the probe's own, which is there before anything is tried.
    init(client: DAVClient, root: RelativePath) {
        self.client = client
        self.root = root
    }

    private mutating func tryAll() async throws(ProviderError) {
        try await tryVersions()
        try await tryConditions()
        try await tryMoves()
        try await tryLocks()
        try await tryStamps()
        let halves = DAVPutProbe(client: client, path: child("whole"), beside: child("beside"))
        abilities.putsWhole = try await halves.isWhole()
        try await tryDepth()
        try await tryDotNames()
        try await tryNames()
        try await tryFolding()
        try await tryJournal()
        if abilities.putsWhole { abilities.putsWhole = try await halves.isUntouched() }
    }

    private mutating func tryOptional() async throws(ProviderError) {
        abilities.isUnsettled = false
        try await tryMoves()
        abilities.history = try await Self.history(client, &abilities.isUnsettled)
        try await tryDepth()
        try await tryJournal()
    }

    private mutating func tryJournal() async throws(ProviderError) {
        let grounds = [child("journal-1"), child("journal-2")]
        abilities.journal = try await Self.optional(client, &abilities.isUnsettled) {
            [client, abilities] (turn) throws(ProviderError) in
            try await DAVJournalProbe(client: client, root: grounds[turn], stamps: abilities.stamps).run()
        }
    }

    private func child(_ name: FileName) -> RelativePath { root.appending(name) }

    private func make(_ path: RelativePath) async throws(ProviderError) {
        let answer = try await client.makeCollection(path)
        guard answer.isSuccess else { throw client.transport.error(answer, "the account cannot be written to") }
    }

    private func put(_ path: RelativePath, _ text: String, _ fields: HTTPFields = [:]) async throws(ProviderError)
        -> HTTPAnswer
    {
        try await client.sure { () throws(ProviderError) in try await client.put(path, .bytes(Array(text.utf8)), fields)
        }
    }

    private func delete(_ path: RelativePath, _ fields: HTTPFields = [:]) async throws(ProviderError) -> HTTPAnswer {
        try await client.sure { () throws(ProviderError) in try await client.delete(path, fields) }
    }

    private func resource(
        _ path: RelativePath, _ body: [UInt8] = DAVBodies.propfind
    ) async throws(ProviderError) -> DAVResource {
        let told = try await client.propfind(path, depth: "0", body: body)
        guard let found = told?.first(where: { $0.path == path }) else {
            throw ProviderError(.failed, "what is written to the account cannot be found there again")
        }
        return found.resource
    }

    private func version(_ path: RelativePath) async throws(ProviderError) -> ProviderVersion {
        try await resource(path).item(path, stamps: false).version
    }

    private static let writes = (least: 4, most: 12)
    /// How long it is tried what versions are made of.
    private static let trialTime = Duration.seconds(10)

    /// Writes the same number of bytes until that proves what versions are made of, and asks for what is kept of it. Where
    /// nothing is proved, as at a server that takes seconds for a write, they are taken for made of seconds.
    private mutating func tryVersions() async throws(ProviderError) {
        var trial = DAVVersionTrial()
        var document = DAVResource()
        var isTold = true
        let start = client.clock.now()
        for round in 0..<Self.writes.most {
            let begin = client.clock.now()
            let isOver = trial.isTimeBased != nil || begin - start > Self.trialTime
            if isOver, round >= Self.writes.least { break }
            let answer = try await put(child("versions"), String(round, radix: 16))
            guard answer.isSuccess else { throw client.transport.error(answer, "the account cannot be written to") }
            if round == 0 {
                try await DAVLookTrial(client: client, path: child("versions"), directory: root).run()
            }
            document = try await resource(child("versions"), DAVBodies.identified)
            let version = try document.item(child("versions"), stamps: false).version
            isTold = isTold && DAVVersion.told(answer) == version
            trial.note(version, from: begin, to: client.clock.now())
        }
        abilities.tellsWritten = isTold
        abilities.isTimeBased = trial.isTimeBased ?? true
        if abilities.isTimeBased { abilities.tellsContents = try await tellsLater(document) }
        abilities.history = try await Self.optional(client, &abilities.isUnsettled) {
            [client, document] (_) throws(ProviderError) in
            try await DAVHistoryProbe(client: client).run(document)
        }
    }

    /// Whether the next write of the same size has another version when a second is over. A server that tells neither entity
    /// tags nor times that change never does: nothing at it would be noticed to have changed.
    private func tellsLater(_ document: DAVResource) async throws(ProviderError) -> Bool {
        let path = child("versions")
        try await client.clock.pause(DAVSecond.length)
        let answer = try await put(path, "x")
        guard answer.isSuccess else { throw client.transport.error(answer, "the account cannot be written to") }
        return try await version(path) != document.item(path, stamps: false).version
    }

    private mutating func tryConditions() async throws(ProviderError) {
        let path = child("conditions")
        _ = try await put(path, "one")
        abilities.refusesExisting = try await put(path, "two", ["If-None-Match": "*"]).status == 412
        for condition in [DAVAbilities.Condition.stateList, .match] where abilities.condition == .none {
            var trial = abilities
            trial.condition = condition
            let url = client.address.url(path)
            let wrong = trial.unchanged("\"quire-no-such-tag\"", url)
            guard try await put(path, "wrong", wrong).status == 412 else { continue }
            let right = trial.unchanged(try await resource(path).entityTag, url)
            guard !right.list.isEmpty, try await put(path, "right", right).isSuccess else { continue }
            guard try await delete(path, wrong).status == 412 else { continue }
            let last = trial.unchanged(try await resource(path).entityTag, url)
            if try await delete(path, last).isSuccess { abilities.condition = condition }
            _ = try await put(path, "again")
        }
    }

    private mutating func tryMoves() async throws(ProviderError) {
        let grounds = [child("moves-1"), child("moves-2")]
        let found = try await Self.optional(client, &abilities.isUnsettled) {
            [client, abilities] (turn) throws(ProviderError) in
            try await DAVMoveProbe(client: client, root: grounds[turn], abilities: abilities).run()
        }
        guard let found else { return }
        (abilities.moveCondition, abilities.movesVersions) = (found.condition, found.keepsVersions)
    }

    /// A busy server may lose a lock while it sets or ends another one (Apache): it is believed to have none after three tries.
    mutating func tryLocks() async throws(ProviderError) {
        for name in ["lock-1", "lock-2", "lock-3"] as [FileName] where !abilities.locks {
            try await make(child(name))
            try await tryLocks(child(name))
        }
    }

    private mutating func tryLocks(_ path: RelativePath) async throws(ProviderError) {
        guard let first = try await lock(path).granted else { return }
        let second = try await lock(path)
        let told = first.isAlone(in: try await client.locks(path))
        // Locks that are in use meanwhile are confirmed as before.
        if told { client.lockNames.state.withLock { $0.areTold = true } }
        let renewed = try await client.sure { [client] () throws(ProviderError) in try await client.refresh(first) }
        await client.release([first, second.granted].compactMap(\.self))
        guard let third = try await lock(path).granted else { return }
        await client.release([third])
        abilities.locks = second.answer.status == 423 && renewed.isSuccess
    }

    private func lock(
        _ path: RelativePath
    ) async throws(ProviderError) -> (answer: HTTPAnswer, granted: DAVLock?) {
        var granted: DAVLock?
        let answer = try await client.sure { () throws(ProviderError) in
            let (answer, lock) = try await client.lock(path)
            granted = lock
            return answer
        }
        return (answer, granted)
    }

    private mutating func tryStamps() async throws(ProviderError) {
        let path = child("stamp")
        _ = try await put(path, "one")
        let stamp = DAVStamp(
            mtime: FileTime(nanoseconds: 1), mode: 0o640, checksum: nil, version: ProviderVersion("<&> \"x\""))
        let before = try await version(path)
        guard try await client.stamp(path, isDirectory: false, stamp) else { return }
        // Where that makes another version of the document, each upload would have its content fetched again.
        guard try await version(path) == before else { return }
        _ = try await put(path, "two")
        abilities.stamps = try await resource(path).stamp == stamp.text
    }

    private mutating func tryDepth() async throws(ProviderError) {
        let (directory, below) = (child("depth"), child("depth").appending("a" as FileName))
        try await make(directory)
        try await make(below)
        let file = below.appending("b" as FileName)
        guard try await put(file, "x").isSuccess else { return }
        let listsAll = try await Self.optional(client, &abilities.isUnsettled) { [client] (_) throws(ProviderError) in
            do throws(ProviderError) {
                let found = try await client.propfind(directory, depth: "infinity", isDirectory: true) ?? []
                return Set(found.map(\.path)) == [directory, below, file]
            } catch {
                // Refused, as the RFC allows: 403 with its reason, or something else.
                if error.code == .cancelled || error.code == .unavailable { throw error }
                return false
            }
        }
        abilities.listsAll = listsAll ?? false
    }

    private mutating func tryDotNames() async throws(ProviderError) {
        let directory = child("dots")
        try await make(directory)
        guard try await put(directory.appending(".x" as FileName), "x").isSuccess else { return }
        let found = try await client.propfind(directory, depth: "1", isDirectory: true) ?? []
        abilities.hidesDotNames = found.count < 2
    }

    /// The longest name that can be written, stamped and removed.
    private mutating func tryNames() async throws(ProviderError) {
        for length in [255, 250, 240, 230, 200, 140] {
            let path = child(FileName(unchecked: [UInt8](repeating: 0x78, count: length)))
            abilities.longestName = length
            guard try await put(path, "x").isSuccess else { continue }
            let stamp = DAVStamp(mtime: FileTime(nanoseconds: 1), mode: 0, checksum: nil, version: DAVVersion.directory)
            let isStamped = try await client.stamp(path, isDirectory: false, stamp)
            if try await delete(path).isSuccess, isStamped || !abilities.stamps { return }
        }
    }

    private mutating func tryFolding() async throws(ProviderError) {
        for trial in FoldingTrial.all {
            let (written, other) = (child(trial.written("folding")), child(trial.other("folding")))
            guard try await put(written, "x").isSuccess else { continue }
            if try await isThere(other) { abilities.folding.insert(trial.folding) }
        }
        guard abilities.folding.contains(.letterCase) else { return }
        let listed = try await client.propfind(root, depth: "1", isDirectory: true) ?? []
        let lowered = child(FoldingTrial.letterCase.written("folding").lowercased)
        abilities.lowersNames = listed.contains { $0.path == lowered }
    }

    /// A server that cannot answer HEAD must not be taken for one where nothing is.
    private func isThere(_ path: RelativePath) async throws(ProviderError) -> Bool {
        let answer = try await client.sure { [client] () throws(ProviderError) in try await client.head(path) }
        if answer.status != 500 { return answer.isSuccess }
        return try await client.get(path, limit: 4096) != nil
    }
}
