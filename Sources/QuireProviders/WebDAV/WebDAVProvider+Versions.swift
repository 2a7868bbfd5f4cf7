package import QuireCore

extension WebDAVProvider {
    /// What the server keeps of the document, newest first, wherever it was when it was replaced. A directory has none.
    package func earlierVersions(of path: RelativePath) async throws(ProviderError) -> [RemoteItem] {
        try validate(path)
        try checkConnected()
        guard let history = abilities.history else {
            throw ProviderError(.unsupported, "\(path): the server keeps no earlier versions")
        }
        guard let document = try await resource(path, DAVBodies.identified) else {
            try await confirm()
            throw ProviderError.notFound(path)
        }
        guard try document.item(path, stamps: false).kind == .file, let name = document.document else { return [] }
        let items = try await client.revisions(of: name, in: history, path).map {
            (revision, resource) throws(ProviderError) in
            guard let size = resource.size, size >= 0 else {
                throw ProviderError(
                    .failed, "\(path): the server does not tell the size of its version \(revision.name)")
            }
            return RemoteItem(
                path: path, kind: .file, version: revision.version, size: ByteCount(size),
                mtime: resource.modified ?? revision.time ?? .unknown)
        }
        return items.filter { !history.listsPresent || $0.mtime != document.modified }
            .sorted { ($0.mtime, $0.version.rawValue) > ($1.mtime, $1.version.rawValue) }
    }

    /// Brings a version that the server keeps: as `fetch`.
    ///
    /// - Throws: `.notFound` where it keeps that no more; `.corrupt` where something else arrives than the server says.
    func fetch(
        _ path: RelativePath, _ revision: DAVRevision, to destination: String,
        progress: @escaping @Sendable (ByteCount) -> Void
    ) async throws(ProviderError) -> RemoteItem {
        guard let history = abilities.history else { throw Self.expired(path) }
        let pool = client.transport.pool
        let sink = FileSink(destination, for: path, pool: pool)
        var told: DAVToldChecksum?
        let request = HTTPRequest("GET", history.target(revision), fields: ["Accept-Encoding": "identity"])
        let answer = try await client.transport.receive(request) {
            (answer) throws(ProviderError) in
            told = DAVToldChecksum(answer)
        } each: { (piece) throws(ProviderError) in
            try await sink.write(piece)
            if let before = told { told = try await pool.run { (_) throws(ProviderError) in before.adding(piece) } }
            progress(ByteCount(sink.size))
        }
        if [404, 410].contains(answer.status) {
            try await confirm()
            throw Self.expired(path)
        }
        guard answer.isSuccess else {
            throw client.transport.error(answer, "an earlier version of \(path) cannot be read")
        }
        if let told, !told.isThat {
            try await sink.discard()
            throw ProviderError(
                .corrupt,
                "what arrived of an earlier version of \(path) is not what the server says: its checksum differs")
        }
        return RemoteItem(
            path: path, kind: .file, version: revision.version, size: ByteCount(sink.size),
            mtime: answer.lastModified ?? revision.time ?? .unknown, checksum: try await sink.keep(nil))
    }

    private static func expired(_ path: RelativePath) -> ProviderError {
        ProviderError(.notFound, "the server keeps that version of \(path) no more")
    }
}
