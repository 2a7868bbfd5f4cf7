import QuireCore
import Testing

@testable import QuireProviders

/// What servers of ownCloud's kind tell of having been set back.
@Suite("Fingerprints of a server's data", .timeLimit(.minutes(1)))
struct DAVFingerprintTests {
    private static let ways = [
        DAVStandIn.Manners(fingerprint: "one"),
        DAVStandIn.Manners(tags: .upwards, tagsFollowStamps: true, fingerprint: ""),
        DAVStandIn.Manners(tokens: DAVStandIn.Tokens(tellsStamps: true), fingerprint: "a/b c"),
    ]

    /// A server with documents, a device that has seen them, and where it stands.
    private func seen(
        _ manners: DAVStandIn.Manners
    ) async throws -> (server: DAVStandIn, provider: WebDAVProvider, cursor: ChangeCursor) {
        let server = try DAVStandIn(manners)
        server.with { state in for path in ["a", "b"] { state.write(path, "text") } }
        let provider = server.provider()
        _ = try await provider.connect(expected: nil)
        guard case .everything(_, let cursor?) = try await provider.changes(since: nil) else {
            throw ProviderError(.failed, "not everything is listed")
        }
        return (server, provider, cursor)
    }

    @Test(
        "With another fingerprint all is listed, and the server was set back, also for a device that starts then",
        arguments: ways)
    func another(manners: DAVStandIn.Manners) async throws {
        let (server, _, cursor) = try await seen(manners)
        server.with { state in
            state.manners.fingerprint = "two"
            state.remove("b")
        }
        let provider = server.provider()
        _ = try await provider.connect(expected: nil)
        guard case .everything(let items, let next?) = try await provider.changes(since: cursor) else {
            throw ProviderError(.failed, "not everything is listed")
        }
        #expect(items.map(\.path) == ["a"])
        let back = try await provider.setBack(before: cursor, next: next)
        #expect(back != nil)
        for cursor in [next, back].compactMap(\.self) {
            #expect(try await provider.setBack(before: cursor, next: next) == nil)
            _ = try await provider.changes(since: cursor)
        }
    }

    @Test("It is seen between two connections where the root is asked for anyway", arguments: ways.dropFirst())
    func between(manners: DAVStandIn.Manners) async throws {
        let (server, provider, cursor) = try await seen(manners)
        server.with { state in
            state.manners.fingerprint = "two"
            state.remove("b")
            state.forgotten = state.journal.count
        }
        guard case .everything(_, let next?) = try await provider.changes(since: cursor) else {
            throw ProviderError(.failed, "not everything is listed")
        }
        #expect(try await provider.setBack(before: cursor, next: next) != nil)
    }

    @Test(
        "The same, none, or one that is told for the first time says nothing",
        arguments: [
            ("one", "one"), (nil, nil), (nil, "one"), ("one", nil),
        ] as [(String?, String?)])
    func same(before: String?, after: String?) async throws {
        let (server, _, cursor) = try await seen(DAVStandIn.Manners(fingerprint: before))
        server.with { $0.manners.fingerprint = after }
        let provider = server.provider()
        _ = try await provider.connect(expected: nil)
        guard case .none(let next?) = try await provider.changes(since: cursor) else {
            throw ProviderError(.failed, "something changed")
        }
        #expect(try await provider.setBack(before: cursor, next: next) == nil)
        #expect(try await provider.setBack(before: next, next: next) == nil)
    }
}
