import QuireCore

extension DAVClient {
    typealias Told = (answer: HTTPAnswer, multistatus: DAVMultistatus?)

    /// Most bytes of a listing of versions.
    private static let longestHistory = 64 << 20

    /// Asks the collection at a request target for `current-user-principal`.
    func tellPrincipal(_ target: String) async throws(ProviderError) -> Told {
        try await receive(Self.look(target, depth: "0", DAVBodies.principal), .root, limit: 1 << 20)
    }

    /// Asks for a document's versions.
    ///
    /// - Parameter path: of the document, for messages.
    func tellRevisions(
        of document: DAVRevision.Document, in history: DAVHistory, _ path: RelativePath
    ) async throws(ProviderError) -> Told {
        try await receive(
            Self.look(history.target(document), depth: "1", DAVBodies.revisions), path, limit: Self.longestHistory)
    }

    /// The versions of a document, as the server lists them; none where it has no such document, or keeps versions no more.
    ///
    /// - Throws: `.failed` for what is no listing of them; as `DAVClient.error`.
    func revisions(
        of document: DAVRevision.Document, in history: DAVHistory, _ path: RelativePath
    ) async throws(ProviderError) -> [(revision: DAVRevision, resource: DAVResource)] {
        let (answer, multistatus) = try await tellRevisions(of: document, in: history, path)
        if [404, 410].contains(answer.status) { return [] }
        guard let multistatus else {
            if answer.isSuccess {
                throw ProviderError(.failed, "\(path): the server's answer is no listing of its versions")
            }
            throw transport.error(answer, "\(path): its versions cannot be listed")
        }
        let place = DAVAddress(origin: address.origin, base: history.target(document))
        var found: [(revision: DAVRevision, resource: DAVResource)] = []
        // Of the collection itself there are answers with other addresses (Infinite Scale). What has expired meanwhile is none.
        for resource in multistatus.resources where !resource.isDirectory && resource.status != 404 {
            if let refusal = resource.refusal {
                throw ProviderError(.failed, "\(path): its versions cannot all be listed", cause: refusal)
            }
            guard let below = place.path(href: resource.href), let name = below.name, below.parent == .root else {
                throw ProviderError(
                    .failed, "\(path): the server lists what is no version of it: \(resource.href.prefix(200))")
            }
            found.append((DAVRevision(of: document, name), resource))
        }
        return found
    }

    private static func look(_ target: String, depth: String, _ body: [UInt8]) -> HTTPRequest {
        HTTPRequest(
            "PROPFIND", target, fields: ["Depth": depth, "Content-Type": "application/xml; charset=utf-8"],
            body: .bytes(body), timeLimit: .seconds(60))
    }
}
