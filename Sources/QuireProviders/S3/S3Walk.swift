import QuireCore

/// Lists a whole bucket: in one request where it is small, else by its directories at the same time: those at the top, or those
/// below the only one there.
struct S3Walk {
    let client: S3Client

    private static let width = 8
    /// With more parts, asking for each costs more than it saves.
    private static let mostParts = 256
    /// How many directories that are the only one in theirs are gone into.
    private static let mostLevels = 8
    /// Pages of a level's own listing, where most of it is directories: these are listed once more.
    private static let mostPages = 16

    func list() async throws(ProviderError) -> [S3Object] {
        let first = try await client.list(client.address.prefix)
        guard first.next != nil else { return first.objects }
        var above: [S3Object] = []
        var prefix = client.address.prefix
        for _ in 0..<Self.mostLevels {
            guard let level = try await level(prefix), !level.directories.isEmpty else { break }
            if level.directories.count > 1 {
                guard let parts = S3Prefixes(level.directories, width: Self.width, most: Self.mostParts) else { break }
                return above + level.objects + (try await objects(parts, below: prefix))
            }
            above += level.objects
            prefix = level.directories[0]
        }
        return above + (try await client.listAll(prefix))
    }

    /// What lies at a level itself; nil where it has too many directories.
    private func level(
        _ prefix: [UInt8]
    ) async throws(ProviderError) -> (objects: [S3Object], directories: [[UInt8]])? {
        // What is Quire's own may be much, and is no part of the tree.
        let own = client.address.directoryKey(StoreLayout.control)
        let found = try await client.listLevel(prefix) { $0 < Self.mostPages || $1.objects.count > $1.prefixes.count }
        guard found.next == nil else { return nil }
        return (found.objects, Set(found.prefixes).filter { $0 != own }.map(\.self))
    }

    private func objects(_ parts: S3Prefixes, below level: [UInt8]) async throws(ProviderError) -> [S3Object] {
        let found = try await forEach(parts.list, limit: Self.width) {
            [client] (prefix) async throws(ProviderError) in
            let objects = try await client.listAll(prefix)
            guard prefix.last != Self.slash else { return objects }
            // What lies at the level itself, and has such a name, is there already.
            return objects.filter { $0.key.dropFirst(level.count).contains(Self.slash) }
        }
        return found.flatMap(\.self)
    }

    private static let slash = UInt8(ascii: "/")
}
