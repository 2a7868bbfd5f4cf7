import QuireCore

/// Lists a whole bucket: in one request where it is small, by its top directories at the same time where there are some.
struct S3Walk {
    let client: S3Client

    private static let width = 8
    /// With more directories at the top, asking for each costs more than it saves.
    private static let mostParts = 256

    func list() async throws(ProviderError) -> [S3Object] {
        let prefix = client.address.prefix
        let first = try await client.list(prefix)
        guard first.next != nil else { return first.objects }
        let top = try await client.list(prefix, isShallow: true)
        guard top.next == nil, (2...Self.mostParts).contains(top.prefixes.count) else {
            return try await client.listAll(prefix, after: first)
        }
        return try await parts(top)
    }

    private func parts(_ top: S3Page) async throws(ProviderError) -> [S3Object] {
        // What is Quire's own may be much, and is no part of the tree.
        let own = client.address.directoryKey(StoreLayout.control)
        let parts = try await forEach(top.prefixes.lazy.filter { $0 != own }, limit: Self.width) {
            [client] (prefix) async throws(ProviderError) in try await client.listAll(prefix)
        }
        return parts.reduce(into: top.objects) { $0 += $1 }
    }
}
