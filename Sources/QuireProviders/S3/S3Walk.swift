import QuireCore

/// Lists a whole bucket: in one request where it is small, else by its directories at the same time: those at the top, or those
/// below the only one there.
struct S3Walk {
    let client: S3Client

    private static let width = 8
    /// With more directories, asking for each costs more than it saves.
    private static let mostParts = 256
    /// How many directories that are the only one in theirs are gone into.
    private static let mostLevels = 8

    func list() async throws(ProviderError) -> [S3Object] {
        let first = try await client.list(client.address.prefix)
        guard first.next != nil else { return first.objects }
        // What is Quire's own may be much, and is no part of the tree.
        let own = client.address.directoryKey(StoreLayout.control)
        var above: [S3Object] = []
        var prefix = client.address.prefix
        for _ in 0..<Self.mostLevels {
            let page = try await client.list(prefix, isShallow: true)
            let directories = page.prefixes.filter { $0 != own }
            guard page.next == nil, (1...Self.mostParts).contains(directories.count) else { break }
            above += page.objects
            guard directories.count == 1 else { return above + (try await parts(directories)) }
            prefix = directories[0]
        }
        return above + (try await client.listAll(prefix))
    }

    private func parts(_ prefixes: [[UInt8]]) async throws(ProviderError) -> [S3Object] {
        let parts = try await forEach(prefixes, limit: Self.width) {
            [client] (prefix) async throws(ProviderError) in try await client.listAll(prefix)
        }
        return parts.flatMap(\.self)
    }
}
