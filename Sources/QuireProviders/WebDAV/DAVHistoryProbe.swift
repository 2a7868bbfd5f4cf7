import QuireCore

/// Finds where a server lists the versions of documents, by asking for those of one. A server that gives documents no
/// `oc:fileid` is asked nothing.
struct DAVHistoryProbe {
    let client: DAVClient

    /// Addresses above the account's root that are asked, at most.
    private static let mostRoots = 2

    /// - Parameter document: what the server says of one of the account's when it is asked with `DAVBodies.identified`.
    /// - Returns: nil where none are kept, or the account may not see them.
    /// - Throws: where an answer proves nothing; `.cancelled`.
    func run(_ document: DAVResource) async throws(ProviderError) -> DAVHistory? {
        guard let name = document.document else { return nil }
        do throws(ProviderError) {
            if let principal = document.principal, try await lists(.nextcloud(principal), name) {
                return .nextcloud(principal)
            }
            for root in roots {
                if let principal = try await principal(root), principal != document.principal,
                    try await lists(.nextcloud(principal), name)
                {
                    return .nextcloud(principal)
                }
                if try await lists(.ownCloud(root: root), name) { return .ownCloud(root: root) }
            }
        } catch {
            // What is no answer to what was asked.
            guard error.code == .failed else { throw error }
        }
        return nil
    }

    /// Percent-encoded paths of what may have `files`, `versions` and `meta` in it, by the account's address: of the files
    /// themselves Nextcloud does not tell to whom they belong. They end with `dav`; with `webdav` an older address of the
    /// files begins.
    private var roots: [String] {
        let names = client.address.names
        return names.indices.filter { names[$0] == Array("dav".utf8) || names[$0] == Array("webdav".utf8) }
            .prefix(Self.mostRoots)
            .map { index in names[..<index].map { "/\(PercentEncoding.encode($0))" }.joined() + "/dav" }
    }

    private func principal(_ root: String) async throws(ProviderError) -> DAVPrincipal? {
        let found = try await sure { [client] () throws(ProviderError) in
            try await client.tellPrincipal("\(root)/")
        }
        return found?.resources.lazy.compactMap(\.principal).first
    }

    private func lists(_ history: DAVHistory, _ document: DAVRevision.Document) async throws(ProviderError) -> Bool {
        try await sure { [client] () throws(ProviderError) in
            try await client.tellRevisions(of: document, in: history, .root)
        } != nil
    }

    /// What was asked for; nil where that is refused, in whatever way. A 500 may be the server's mishap: asked twice.
    private func sure(
        _ ask: () async throws(ProviderError) -> (answer: HTTPAnswer, multistatus: DAVMultistatus?)
    ) async throws(ProviderError) -> DAVMultistatus? {
        var told = try await ask()
        if told.answer.status == 500 { told = try await ask() }
        // The same secret was good for files.
        guard told.answer.status == 401 || !told.answer.provesNothing else {
            throw client.transport.error(told.answer, "the account cannot be tried")
        }
        return told.multistatus
    }
}
