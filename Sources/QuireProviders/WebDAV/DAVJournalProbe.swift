import QuireCore

/// Finds out how a server tells what changed, by changing scratch documents two directories down and asking after each kind
/// of change. A server that forgets to tell one of them is taken for one that tells nothing.
struct DAVJournalProbe {
    let client: DAVClient
    /// A directory to make.
    let root: RelativePath
    /// The server keeps properties.
    let stamps: Bool

    private var below: RelativePath { root.appending("a" as FileName) }
    /// Where changes are made.
    var deepest: RelativePath { below.appending("b" as FileName) }
    /// All that is made first, parents first.
    var directories: [RelativePath] { [root, below, deepest] }

    func file(_ name: FileName) -> RelativePath { deepest.appending(name) }

    func run() async throws(ProviderError) -> DAVAbilities.Journal? {
        do throws(ProviderError) {
            if let token = try await client.syncToken() {
                var probe = DAVSyncProbe(ground: self, token: token)
                if let tellsAttributes = try await probe.run() { return .tokens(tellsAttributes: tellsAttributes) }
                _ = try await client.delete(root, isDirectory: true)
            }
            guard let tag = try await client.tag(.root) else { return nil }
            var probe = DAVTagProbe(ground: self, drive: tag)
            return try await probe.run().map { .tags(tellsAttributes: $0) }
        } catch {
            // Refused, or no answer to what was asked.
            if [.cancelled, .unavailable, .noSpace].contains(error.code) { throw error }
            return nil
        }
    }

    // MARK: - what both change

    func make(_ path: RelativePath) async throws(ProviderError) {
        try check(try await client.makeCollection(path))
    }

    func put(_ path: RelativePath, _ text: String) async throws(ProviderError) {
        try check(try await client.put(path, .bytes(Array(text.utf8))))
    }

    func delete(_ path: RelativePath, isDirectory: Bool = false) async throws(ProviderError) {
        try check(try await client.delete(path, isDirectory: isDirectory))
    }

    func move(
        _ path: RelativePath, to destination: RelativePath, isDirectory: Bool = false
    ) async throws(ProviderError) {
        try check(try await client.move(path, to: destination, isDirectory: isDirectory, overwrite: false))
    }

    func stamp(_ path: RelativePath, isDirectory: Bool = false) async throws(ProviderError) {
        let stamp = DAVStamp(mtime: FileTime(nanoseconds: 7), mode: 0o600, checksum: nil, version: DAVVersion.directory)
        guard try await client.stamp(path, isDirectory: isDirectory, stamp) else {
            throw ProviderError(.failed, "the account cannot be tried")
        }
    }

    private func check(_ answer: HTTPAnswer) throws(ProviderError) {
        guard answer.isSuccess else { throw client.transport.error(answer, "the account cannot be tried") }
    }
}

/// Whether reports since a token (RFC 6578) tell all.
struct DAVSyncProbe {
    let ground: DAVJournalProbe
    private(set) var token: String

    init(ground: DAVJournalProbe, token: String) { (self.ground, self.token) = (ground, token) }

    /// Whether reports tell of attributes, too; nil where they leave out something else.
    mutating func run() async throws(ProviderError) -> Bool? {
        // One who takes any token for a good one would not say that it has forgotten one.
        guard case .expired = try await ground.client.changes(since: "\(token)-no-such-token") else { return nil }
        guard try await tellsCreations(), try await tellsChanges() else { return nil }
        let tellsAttributes = try await tellsAttributes()
        guard try await tellsMoves(), try await tellsRemoval() else { return nil }
        return tellsAttributes
    }

    private mutating func tellsCreations() async throws(ProviderError) -> Bool {
        for directory in ground.directories { try await ground.make(directory) }
        for name in ["f", "g"] as [FileName] { try await ground.put(ground.file(name), "one") }
        guard let report = try await report() else { return false }
        guard ground.directories.allSatisfy({ (report[$0] ?? nil)?.kind == .directory }) else { return false }
        return try await arePresent(["f", "g"].map(ground.file), report)
    }

    private mutating func tellsChanges() async throws(ProviderError) -> Bool {
        let before = try await look(ground.file("f"))
        try await ground.put(ground.file("f"), "two")
        try await ground.delete(ground.file("g"))
        try await ground.put(ground.file("h"), "one")
        guard let report = try await report() else { return false }
        guard report[ground.file("g")] == .some(nil) else { return false }
        guard let now = report[ground.file("f")] ?? nil, now.version != before?.version else { return false }
        return try await arePresent(["f", "h"].map(ground.file), report)
    }

    private mutating func tellsAttributes() async throws(ProviderError) -> Bool {
        guard ground.stamps else { return true }
        try await ground.stamp(ground.file("h"))
        try await ground.stamp(ground.deepest, isDirectory: true)
        let report = try await report()
        return report?[ground.file("h")] != nil && report?[ground.deepest] != nil
    }

    private mutating func tellsMoves() async throws(ProviderError) -> Bool {
        let moved = ground.root.appending("c" as FileName)
        try await ground.move(ground.file("f"), to: ground.root.appending("f" as FileName))
        try await ground.move(ground.deepest, to: moved, isDirectory: true)
        guard let report = try await report() else { return false }
        // What is in a directory that is told is listed.
        guard report[ground.deepest] == .some(nil), (report[moved] ?? nil)?.kind == .directory else { return false }
        return try await arePresent([ground.root.appending("f" as FileName)], report)
    }

    private mutating func tellsRemoval() async throws(ProviderError) -> Bool {
        try await ground.delete(ground.root, isDirectory: true)
        return try await report()?[ground.root] == .some(nil)
    }

    /// What is told of the scratch documents since the last report, nil for what is gone; nil for no report.
    private mutating func report() async throws(ProviderError) -> [RelativePath: RemoteItem?]? {
        var told: [RelativePath: RemoteItem?] = [:]
        while true {
            guard case .changes(let found, let next, let isCut) = try await ground.client.changes(since: token),
                !isCut || next != token
            else { return nil }
            token = next
            for (path, resource) in found where path.isInside(ground.root) {
                told[path] = .some(resource.status == 404 ? nil : try resource.item(path, stamps: false))
            }
            if !isCut { return told }
        }
    }

    /// Whether all are told of as they are.
    private func arePresent(
        _ paths: [RelativePath], _ report: [RelativePath: RemoteItem?]
    ) async throws(ProviderError) -> Bool {
        for path in paths {
            guard let told = report[path] ?? nil, try await look(path) == told else { return false }
        }
        return true
    }

    private func look(_ path: RelativePath) async throws(ProviderError) -> RemoteItem? {
        try await ground.client.propfind(path, depth: "0")?.first { $0.path == path }?.resource.item(
            path, stamps: false)
    }
}

/// Whether each change changes the entity tags of all directories that it lies in.
struct DAVTagProbe {
    let ground: DAVJournalProbe
    /// Of the drive's root, and of the scratch directory, which nobody else changes.
    private var drive: String
    private var top = ""

    init(ground: DAVJournalProbe, drive: String) { (self.ground, self.drive) = (ground, drive) }

    /// Whether a change of attributes does so, too; nil where another does not.
    mutating func run() async throws(ProviderError) -> Bool? {
        for directory in ground.directories { try await ground.make(directory) }
        try await ground.put(ground.file("f"), "one")
        guard try await isChanged() else { return nil }
        // Of the same size, and twice within a second.
        for text in ["two", "six"] {
            try await ground.put(ground.file("f"), text)
            guard try await isChanged() else { return nil }
        }
        try await ground.put(ground.file("g"), "one")
        guard try await isChanged() else { return nil }
        try await ground.move(ground.file("g"), to: ground.file("h"))
        guard try await isChanged() else { return nil }
        try await ground.delete(ground.file("h"))
        guard try await isChanged() else { return nil }
        let tellsAttributes = try await tellsAttributes()
        let (one, other) = (ground.file("d"), ground.file("e"))
        try await ground.make(one)
        guard try await isChanged() else { return nil }
        try await ground.move(one, to: other, isDirectory: true)
        guard try await isChanged() else { return nil }
        try await ground.delete(other, isDirectory: true)
        return try await isChanged() ? tellsAttributes : nil
    }

    private mutating func tellsAttributes() async throws(ProviderError) -> Bool {
        guard ground.stamps else { return true }
        try await ground.stamp(ground.file("f"))
        let isFileTold = try await isChanged()
        try await ground.stamp(ground.deepest, isDirectory: true)
        let isDirectoryTold = try await isChanged()
        return isFileTold && isDirectoryTold
    }

    /// Whether both have another tag than when last asked.
    private mutating func isChanged() async throws(ProviderError) -> Bool {
        guard let top = try await ground.client.tag(ground.root), let drive = try await ground.client.tag(.root) else {
            return false
        }
        defer { (self.top, self.drive) = (top, drive) }
        return top != self.top && drive != self.drive
    }
}
