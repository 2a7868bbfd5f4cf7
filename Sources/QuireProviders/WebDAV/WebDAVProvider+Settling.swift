import Crypto
import QuireCore

/// Where versions are made of time: see `DAVReading`.
extension WebDAVProvider {
    /// Items with versions that the next write changes: what was written a moment ago is looked at again once that is over.
    func settled(_ items: [RemoteItem]) async throws(ProviderError) -> [RemoteItem] {
        let recent = items.filter { DAVVersion.isUnsettled($0.version) }.map(\.path)
        guard !recent.isEmpty else { return items }
        try await HTTPFailure.pause(DAVReading.settleTime)
        let now: [RemoteItem]
        if recent.count > ChangeFeed.mostLooks {
            now = try await list()
        } else {
            now = try await forEach(recent, limit: 8) { (path) async throws(ProviderError) in
                try await self.look(path)?.item
            }.compactMap(\.self)
        }
        let found = Dictionary(now.map { ($0.path, $0) }) { first, _ in first }
        return items.map { item in
            // What is gone by now is found the next time.
            let now = DAVVersion.isUnsettled(item.version) ? found[item.path] : nil
            return now.flatMap { $0.kind == .file ? $0 : nil } ?? item
        }
    }

    /// As for items.
    func settled(_ item: RemoteItem?) async throws(ProviderError) -> RemoteItem? {
        guard let item, DAVVersion.isUnsettled(item.version) else { return item }
        try await HTTPFailure.pause(DAVReading.settleTime)
        return try await look(item.path)?.item
    }

    /// A document that was just moved to its place and got the time of that: with a settled version where its content is
    /// still what was sent, for another program may have written it within the second. Else as it is.
    func proven(_ item: RemoteItem, _ sent: ContentChecksum?) async throws(ProviderError) -> RemoteItem {
        guard DAVVersion.isUnsettled(item.version), let sent, let now = try await settled(item),
            try await checksum(of: item.path) == sent, let last = try await look(item.path)?.item,
            last.version == now.version
        else { return item }
        return last
    }

    /// Of the content at `path` now; nil where none comes.
    private func checksum(of path: RelativePath) async throws(ProviderError) -> ContentChecksum? {
        let pool = client.transport.pool
        var hash = SHA256()
        let answer = try await client.transport.receive(HTTPRequest("GET", client.address.target(path))) {
            (piece) throws(ProviderError) in
            let before = hash
            hash = try await pool.run { (_) throws(ProviderError) in
                var next = before
                piece.forEachPart { next.update(bufferPointer: $0) }
                return next
            }
        }
        return answer.isSuccess ? ContentChecksum(hash.finalize()) : nil
    }
}
