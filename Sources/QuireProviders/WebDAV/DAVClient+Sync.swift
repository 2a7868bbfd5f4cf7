import QuireCore

/// What a server answers to the question what changed since a token (RFC 6578).
enum DAVSyncAnswer: Sendable {
    /// - Parameters:
    ///   - found: what changed, as it is now, and with the status 404 what is gone.
    ///   - token: to ask with next.
    ///   - isCut: there is more, since `token`.
    case changes(found: [(path: RelativePath, resource: DAVResource)], token: String, isCut: Bool)
    /// Only a listing of everything tells: the token is not known any more, or there is too much to tell.
    case expired
    /// The server does not answer such questions.
    case refused(HTTPAnswer)
}

extension DAVClient {
    /// Most bytes of a report.
    private static let reportLimit = 512 << 20

    /// The token of the account's root; nil where the server has none for it.
    func syncToken() async throws(ProviderError) -> String? {
        let found = try await propfind(.root, depth: "0", body: DAVBodies.syncToken)
        let token = found?.first { $0.path.isRoot }?.resource.syncToken
        return token?.isEmpty ?? true ? nil : token
    }

    /// What changed anywhere in the account since `token`.
    ///
    /// - Throws: `.failed` for what is no whole report, or tells of what is elsewhere; where the answer says how the server
    ///   is at this moment. `.unavailable` where the account's root is gone.
    func changes(since token: String) async throws(ProviderError) -> DAVSyncAnswer {
        let request = HTTPRequest(
            "REPORT", address.target(.root),
            // The depth is that of the question, whose element says how far it reaches.
            fields: ["Depth": "0", "Content-Type": "application/xml; charset=utf-8"],
            body: .bytes(DAVBodies.syncCollection(since: token)))
        let (answer, multistatus) = try await receive(
            request, .root, limit: Self.reportLimit, isListing: true)
        guard let multistatus else { return try refusal(answer) }
        guard let next = multistatus.syncToken, !next.isEmpty else {
            throw ProviderError(.failed, "\(address.place): the server's report of what changed has no token")
        }
        let found = try resources(multistatus, in: .root)
        let isCut = found.contains { $0.path.isRoot && $0.resource.status == 507 }
        return .changes(found: found.filter { !$0.path.isRoot }, token: next, isCut: isCut)
    }

    private func refusal(_ answer: HTTPAnswer) throws(ProviderError) -> DAVSyncAnswer {
        let names = DAVPrecondition.names(answer)
        if !names.isDisjoint(with: [DAVPrecondition.validSyncToken, DAVPrecondition.matchesWithinLimits]) {
            return .expired
        }
        if [404, 410].contains(answer.status) { throw DAVWalk.gone }
        guard !answer.provesNothing, (400..<500).contains(answer.status) || answer.status == 501 else {
            throw transport.error(answer, "\(address.place): what changed cannot be asked for")
        }
        return .refused(answer)
    }
}
