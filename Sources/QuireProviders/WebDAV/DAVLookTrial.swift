import QuireCore

/// Finds out whether all that a server tells of a document is alike, in a listing and in looks at it alone.
///
/// Of machines behind one address each may tell something else, and which one answers is chance: so it is looked several times
/// at one time, which takes a connection for each.
/// ```
///  looks together  1   2   3   4   5   6   7   8   and a listing: by two machines, taken at random, these are alike
///                                                  once in 256 times
/// ```
struct DAVLookTrial {
    let client: DAVClient
    /// Of a document that is there, and that nobody changes meanwhile.
    let path: RelativePath
    let directory: RelativePath

    private static let looks = 8
    private static let turns = 4

    /// Does without entity tags where not all tell the same one.
    ///
    /// - Throws: `.unsupported` where they tell another size or time as well.
    func run() async throws(ProviderError) {
        if try await isToldAlike() { return }
        let were = client.entityTags.ignore()
        guard try await isToldAlike() else {
            // It is not used.
            if !were { client.entityTags.heed() }
            throw ProviderError(
                .unsupported,
                "\(client.address.place) tells one thing of a document in a listing, and another when it is asked for it alone, so "
                    + "all would be fetched again and again; have the server, or what is before it, set right")
        }
    }

    /// What changes once for good after a write, as a server that is slow makes it, is no difference: then it is the same twice
    /// in a row.
    private func isToldAlike() async throws(ProviderError) -> Bool {
        var before: ProviderVersion?
        for turn in 0..<Self.turns {
            let told = try await told()
            guard told.count < 2 else {
                before = nil
                continue
            }
            if turn == 0 || told.first == before { return true }
            before = told.first
        }
        return false
    }

    /// The versions that a listing and looks tell. What the listing does not show is tried elsewhere (`hidesDotNames`).
    private func told() async throws(ProviderError) -> Set<ProviderVersion> {
        let looked = try await forEach(0..<Self.looks, limit: Self.looks) { (_) async throws(ProviderError) in
            try await look()
        }
        var versions = Set(looked.compactMap(\.self))
        let listed = try await client.propfind(directory, depth: "1", isDirectory: true)
        if let item = try listed?.first(where: { $0.path == path })?.resource.seen(path, stamps: false),
            item.unseen == nil
        {
            versions.insert(item.version)
        }
        return versions
    }

    private func look() async throws(ProviderError) -> ProviderVersion? {
        let told = try await client.propfind(path, depth: "0")
        return try told?.first { $0.path == path }?.resource.item(path, stamps: false).version
    }
}
