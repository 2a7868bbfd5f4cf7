package import QuireCore

extension S3Provider {
    /// What the bucket keeps of the object at this path, newest first. What it held under another name is listed there.
    package func earlierVersions(of path: RelativePath) async throws(ProviderError) -> [RemoteItem] {
        try validate(path)
        try checkConnected()
        guard abilities.keepsVersions else {
            throw ProviderError(.unsupported, "\(path): the bucket keeps no earlier versions")
        }
        let key = client.address.key(path)
        let entries = try await client.versions(key)
        guard !entries.isEmpty else {
            try await confirm()
            throw ProviderError.notFound(path)
        }
        return entries.filter { !$0.isLatest && S3Sign($0.object) == nil }.map { entry in
            RemoteItem(
                path: path, kind: .file, version: S3Version(identifier: entry.identifier).version,
                size: ByteCount(entry.object.size), mtime: entry.object.modified)
        }
    }
}

extension S3Client {
    /// Whether the bucket keeps what is replaced in it, now or once. A store that knows no versions, and one whose key may not
    /// ask, has none to show.
    func keepsVersions() async throws(ProviderError) -> Bool {
        let answer = try await transport.send(HTTPRequest("GET", address.bucketTarget, query: "versioning="))
        guard !answer.provesNothing else { throw error(answer, "\(address.place) cannot be tried") }
        return answer.isSuccess && S3ElementReader.values(answer.body)["Status"] != nil
    }

    /// The versions of one object, newest first, the present one included.
    func versions(_ key: [UInt8]) async throws(ProviderError) -> [S3VersionPage.Entry] {
        var found: [S3VersionPage.Entry] = []
        var passed: Set<S3VersionPage.Marker> = []
        var page = try await versionPage(key, nil)
        while true {
            found += page.entries.filter { $0.object.key == key }
            // Keys come in order, and this one is the first of those that begin with it.
            guard let next = page.next, next.key == key else { return found }
            guard passed.insert(next).inserted else {
                throw ProviderError(.failed, "\(address.place): the store's listing of versions does not end")
            }
            page = try await versionPage(key, next)
        }
    }

    private func versionPage(
        _ key: [UInt8], _ marker: S3VersionPage.Marker?
    ) async throws(ProviderError) -> S3VersionPage {
        var query = ["encoding-type=url", "prefix=\(PercentEncoding.encode(key))", "versions="]
        if let marker {
            query.append("key-marker=\(PercentEncoding.encode(marker.key))")
            query.append("version-id-marker=\(PercentEncoding.encode(marker.identifier.utf8))")
        }
        let request = HTTPRequest("GET", address.bucketTarget, query: query.sorted().joined(separator: "&"))
        let answer = try await transport.send(request, limit: Self.pageLimit)
        guard answer.isSuccess else { throw error(answer, "\(address.place): its versions cannot be listed") }
        let receiver = S3VersionPageReader()
        let reader = try XMLReader(receiver)
        try reader.read(answer.body)
        try reader.finish()
        return try receiver.finished()
    }
}
