import QuireCore

/// What a server says about one resource.
struct DAVResource: Sendable {
    struct KnownLock: Sendable {
        /// Empty where the server keeps tokens to itself.
        var token = ""
        /// As whoever took it asked; empty where the server does not tell.
        var owner = ""
    }

    var href = ""
    /// Of the whole resource where there is one status for it; nil where properties came with theirs.
    var status: Int?
    /// Of properties that were not granted, where it is not that there are none.
    var refused: Int?
    /// What the server says of that, for people (RFC 4918 §14.25).
    var words: String?
    var isDirectory = false
    var size: Int64?
    var modified: FileTime?
    /// When the server said all this, by its own clock; nil of what is in a directory that was listed.
    var told: FileTime?
    /// Exactly as it came.
    var entityTag: String?
    var stamp: String?
    var freeBytes: Int64?
    /// Of a collection, where that was asked: what changed since can be asked for with it.
    var syncToken: String?
    /// Which document it is, where that was asked and the server tells.
    var document: DAVRevision.Document?
    /// Of the account's root, where that was asked and the server tells: see `DAVFingerprint`. Empty before the first time.
    var fingerprint: String?
    /// Who asks, where that was asked and the server tells.
    var principal: DAVPrincipal?
    /// The locks it has, where that was asked and the server tells.
    var locks: [KnownLock] = []
    /// Whether any property came.
    var hasProperties = false

    /// Whether the server is still at work on it.
    var isEarly: Bool { status == 425 || refused == 425 }

    /// What the server says of a refusal, for people; nil where it refuses nothing.
    var refusal: String? {
        guard let status = status ?? refused, !(200..<300).contains(status) else { return nil }
        return "the server says \(status) for it\(words.flatMap(ServerWords.shortened).map { ": \($0)" } ?? "")"
    }

    /// The item that this is, at `path`; unseen where the server does not tell enough of it.
    ///
    /// - Parameter stamps: see `item`.
    /// - Throws: where the server says how it is at this moment, and nothing of the resource: it cannot list more, or has no
    ///   time.
    func seen(_ path: RelativePath, stamps: Bool) throws(ProviderError) -> RemoteItem {
        if status.map({ (200..<300).contains($0) }) ?? true, let item = try? item(path, stamps: stamps) { return item }
        guard let refusal else { return .unseen(path, because: "the server does not tell its size") }
        if isEarly { return .unseen(path, because: "the server is still at work on it") }
        let answer = HTTPAnswer(status: status ?? refused ?? 0)
        guard answer.status == 401 || !answer.provesNothing else {
            throw ProviderError(.failed, "\(path) cannot be listed: the server is in trouble", cause: refusal)
        }
        return .unseen(path, because: refusal)
    }

    /// The item that this is, at `path`.
    ///
    /// - Parameter stamps: the server keeps stamps: what has none has no tags.
    /// - Throws: `.failed` for a file whose size the server does not tell.
    func item(_ path: RelativePath, stamps: Bool) throws(ProviderError) -> RemoteItem {
        let stamp = stamp.flatMap(DAVStamp.init)
        let tags = stamps ? stamp?.tags ?? [] : nil
        guard !isDirectory else {
            return RemoteItem(
                path: path, kind: .directory, version: DAVVersion.directory, size: .zero,
                mtime: stamp?.mtime ?? modified ?? FileTime(nanoseconds: 0), mode: stamp?.mode, tags: tags)
        }
        guard let size, size >= 0 else { throw ProviderError(.failed, "\(path): the server does not tell its size") }
        let version = DAVVersion.version(entityTag: entityTag, size: size, modified: modified)
        let own = stamp?.version == version ? stamp : nil
        return RemoteItem(
            path: path, kind: .file, version: version, size: ByteCount(size),
            mtime: own?.mtime ?? modified ?? FileTime(nanoseconds: 0), mode: own?.mode, checksum: own?.checksum,
            tags: tags)
    }
}

/// How a server's words become versions.
///
/// A file's is its entity tag without quotes and without the mark of weakness: some servers call a tag weak for a second
/// after a write, and some leave the quotes out in listings. Where there is none, size and time of change stand in.
enum DAVVersion {
    /// Directories have no content of their own.
    static let directory = ProviderVersion("directory")

    static func version(entityTag: String?, size: Int64, modified: FileTime?) -> ProviderVersion {
        guard let core = entityTag.flatMap(core) else {
            return ProviderVersion("t-\(size)-\(modified?.nanoseconds ?? 0)")
        }
        return ProviderVersion("e-\(core)")
    }

    /// The version that an answer's own entity tag stands for; nil where it has none.
    static func told(_ answer: HTTPAnswer) -> ProviderVersion? {
        answer.fields["ETag"].flatMap(core).map { ProviderVersion("e-\($0)") }
    }

    /// The tag as a condition names it, quoted; nil where there is none.
    static func condition(_ entityTag: String?) -> String? {
        guard let entityTag, let core = core(entityTag) else { return nil }
        return entityTag.contains("\"") ? entityTag : "\"\(core)\""
    }

    private static func core(_ entityTag: String) -> String? {
        var text = entityTag[...]
        if text.hasPrefix("W/") { text = text.dropFirst(2) }
        if text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") { text = text.dropFirst().dropLast() }
        return text.isEmpty ? nil : String(text)
    }
}
