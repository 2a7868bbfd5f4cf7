import QuireCore

/// Tries what a store without room for anything does with conditions on deletions: on an object of Quire's own that may be lost,
/// as a store that heeds none removes it.
///
/// Such are the oldest record of what changed, which only devices read that have been away for long, and thumbnails, which are
/// made again. The newest record stays: devices count on from it.
struct S3DeletionProbe {
    let client: S3Client

    /// What was found; nil where there is nothing to try it on, or the store keeps no conditions.
    ///
    /// Whether directories are in the way of others once they are empty needs room to be found out. Until then they are taken to be.
    func run() async throws(ProviderError) -> S3Abilities? {
        guard let object = try await sacrifice() else { return nil }
        guard try client.refuses(try await client.delete(object.key, .version(S3EntityTag.nobodys))),
            try client.sure(try await client.head(object.key)).isSuccess
        else { return nil }
        var abilities = S3Abilities(deletesChecked: true, keepsDirectories: true)
        let version = ProviderVersion(object.entityTag)
        for wantsQuotes in [true, false] {
            abilities.wantsQuotes = wantsQuotes
            let answer = try client.sure(try await client.delete(object.key, .version(abilities.tag(version))))
            if answer.isSuccess { return abilities }
        }
        return nil
    }

    private func sacrifice() async throws(ProviderError) -> S3Object? {
        let records = try await objects(in: StoreLayout.changes)
        if records.count > 1 { return records.min { $0.key.lexicographicallyPrecedes($1.key) } }
        return try await objects(in: StoreLayout.thumbnails).first
    }

    private func objects(in directory: RelativePath) async throws(ProviderError) -> [S3Object] {
        try await client.listAll(client.address.directoryKey(directory)).filter { !$0.entityTag.isEmpty }
    }
}
