package import QuireCore
import Synchronization

extension S3Provider {
    package func setBack(before cursor: ChangeCursor, next: ChangeCursor) async throws(ProviderError) -> ChangeCursor? {
        try await state.withLock { $0.feed }?.setBack(before: cursor, next: next)
    }

    package func changes(since cursor: ChangeCursor?) async throws(ProviderError) -> RemoteChanges {
        try checkConnected()
        return try await FeedReader(
            feed: state.withLock { $0.feed },
            list: { () async throws(ProviderError) in try await self.list() },
            look: { (path) async throws(ProviderError) in try await self.look(path) },
            listsAttributes: false, mostLookedAtFirst: Self.mostLookedAtFirst
        ).changes(since: cursor)
    }

    package func announce(_ changes: [AnnouncedChange]?) async throws(ProviderError) {
        try checkConnected()
        try await state.withLock { $0.feed }?.announce(ChangeRecord(changes))
    }

    /// Up to as many documents are looked at one by one when a device sees the store for the first time: listings do not have
    /// their times.
    private static let mostLookedAtFirst = 128

    private func list() async throws(ProviderError) -> [RemoteItem] {
        let tree = S3Tree(client.address, logger)
        let objects = try await S3Walk(client: client).list()
        var (items, covered) = tree.items(objects)
        try await confirm(always: true)
        if try await uncover(covered, tree) { items = tree.items(try await S3Walk(client: client).list()).items }
        if abilities.keepsDirectories { await vacancy.sweep(objects) }
        state.withLock { $0.directories = Set(items.lazy.filter { $0.kind == .directory }.map(\.path)) }
        return items
    }

    package func item(at path: RelativePath) async throws(ProviderError) -> RemoteItem? {
        try validateReading(path)
        try checkConnected()
        return try await look(path)
    }

    package func fetch(
        _ path: RelativePath, version: ProviderVersion, to destination: String,
        progress: @escaping @Sendable (ByteCount) -> Void
    ) async throws(ProviderError) -> RemoteItem {
        try validate(path)
        try checkConnected()
        let first = try await bring(path, version, to: destination, progress)
        if first.isKept { return first.item }
        // Its metadata is of other content, or something went wrong on the way: what comes twice is what the store has.
        let second = try await bring(path, version, to: destination, knowing: first.item.checksum, progress)
        guard second.isKept else { throw FileSink.corrupt(path) }
        return second.item
    }

    /// Fetches what is neither sure to be what the store has nor sure not to be only if that has come before.
    ///
    /// - Parameter known: the checksum of what has come before.
    /// - Returns: the document with the checksum of what has come, and whether that is at `destination` now.
    private func bring(
        _ path: RelativePath, _ version: ProviderVersion, to destination: String, knowing known: ContentChecksum? = nil,
        _ progress: @escaping @Sendable (ByteCount) -> Void
    ) async throws(ProviderError) -> (item: RemoteItem, isKept: Bool) {
        let sink = FileSink(destination, for: path, pool: client.transport.pool)
        let earlier = S3Version(version)
        var request = HTTPRequest(
            "GET", client.address.target(client.address.key(path)), fields: S3Checksum.wish)
        if let earlier { request.query = earlier.query } else { request.fields["If-Match"] = abilities.tag(version) }
        let answer = try await client.transport.receive(request) { (piece) throws(ProviderError) in
            try await sink.write(piece)
            progress(ByteCount(sink.size))
        }
        if answer.status == 404 {
            try await confirm()
            throw ProviderError.notFound(path)
        }
        if answer.status == 412 { throw ProviderError.refused(path) }
        guard answer.isSuccess else { throw client.error(answer, "\(path) cannot be read") }
        var item = Self.item(path, answer)
        if let earlier, earlier.isThat(of: answer) { item.version = version }
        // Some stores answer with whatever is there.
        guard item.version == version, item.size.bytes == sink.size else { throw ProviderError.refused(path) }
        let (told, claim, arrived) = (item.checksum, S3Metadata.claim(answer), sink.checksum)
        item.checksum = arrived
        if told == nil, let claim, claim != arrived, known != arrived {
            try await sink.discard()
            return (item, false)
        }
        _ = try await sink.keep(told)
        return (item, true)
    }

    package func fetch(
        _ path: RelativePath, version: ProviderVersion, range: Range<Int64>, into destination: String,
        progress: @escaping @Sendable (ByteCount) -> Void
    ) async throws(ProviderError) -> RemoteItem {
        try validate(path)
        try checkConnected()
        let pool = client.transport.pool
        let sink = try await pool.run { (_) throws(ProviderError) in try PartSink(destination, for: path, range) }
        var request = HTTPRequest(
            "GET", client.address.target(client.address.key(path)), fields: ContentRange.fields(range))
        request.fields["If-Match"] = abilities.tag(version)
        var found: RemoteItem?
        let answer = try await client.transport.receive(request) { (answer) throws(ProviderError) in
            var item = Self.item(path, answer)
            // Some stores answer with whatever is there.
            guard item.version == version else { throw ProviderError.refused(path) }
            item.size = ByteCount(try ContentRange.total(answer, range, path))
            found = item
        } each: { (piece) throws(ProviderError) in
            try await pool.run { (_) throws(ProviderError) in try sink.write(piece) }
            progress(sink.size)
        }
        if answer.status == 404 {
            try await confirm()
            throw ProviderError.notFound(path)
        }
        if [412, 416].contains(answer.status) { throw ProviderError.refused(path) }
        guard let found else { throw client.error(answer, "\(path) cannot be read") }
        guard sink.isFull else { throw ProviderError.cut(path) }
        return found
    }

    /// What is at `path` now; nil where nothing is, which is sure.
    func look(_ path: RelativePath) async throws(ProviderError) -> RemoteItem? {
        if path.isRoot {
            try await confirm()
            return Self.directory(.root)
        }
        let answer = try await client.look(client.address.key(path))
        let sign = S3Sign(answer)
        if sign == .directory { return Self.directory(path) }
        if answer.isSuccess, sign == nil { return Self.item(path, answer) }
        if try await isDirectory(path) { return Self.directory(path) }
        try await confirm()
        return nil
    }

    /// Whether a marker or anything else is below `path`, or what stands for a directory is there.
    func isDirectory(_ path: RelativePath) async throws(ProviderError) -> Bool {
        if try await !client.objects(below: path).isEmpty { return true }
        guard abilities.keepsDirectories else { return false }
        return try await S3Sign(client.look(client.address.key(path))) == .directory
    }

    /// A file, from the fields of an answer about it: with the attributes that were uploaded, where they are in its metadata.
    static func item(_ path: RelativePath, _ answer: HTTPAnswer) -> RemoteItem {
        RemoteItem(
            path: path, kind: .file,
            version: ProviderVersion(S3EntityTag.plain(answer.fields["ETag"] ?? "")),
            size: ByteCount(answer.fields["Content-Length"].flatMap { Int64($0) } ?? 0),
            mtime: S3Metadata.mtime(answer) ?? answer.lastModified ?? .unknown,
            mode: S3Metadata.mode(answer),
            checksum: S3Checksum.told(answer))
    }

    /// Directories have no times of their own, and one version.
    static func directory(_ path: RelativePath) -> RemoteItem {
        RemoteItem(
            path: path, kind: .directory, version: ProviderVersion("directory"), size: .zero,
            mtime: .unknown)
    }

    func validate(_ path: RelativePath) throws(ProviderError) {
        try MemoryNames.validate(path, capabilities)
        try checkLength(path)
        let refused = abilities.refusedBytes
        if let byte = path.bytes.first(where: refused.contains) {
            throw ProviderError(
                .invalidName,
                "\(path): the store keeps no names with \(Self.named(byte)); rename it")
        }
    }

    private static func named(_ byte: UInt8) -> String {
        switch byte {
        case 0x0A: "line breaks"
        case 0x20: "spaces"
        case 0x5C: "backslashes"
        case ..<0x20: "control characters"
        default: "the character \(Character(Unicode.Scalar(byte)))"
        }
    }

    private func validateReading(_ path: RelativePath) throws(ProviderError) {
        try MemoryNames.validateReading(path, capabilities)
        try checkLength(path)
    }

    /// A directory's marker has a byte more.
    private func checkLength(_ path: RelativePath) throws(ProviderError) {
        guard client.address.prefix.count + path.bytes.count < S3Layout.longestKey else {
            throw ProviderError(
                .invalidName,
                "\(path): with the bucket's prefix its path is longer than the \(S3Layout.longestKey) bytes of a key")
        }
    }
}
