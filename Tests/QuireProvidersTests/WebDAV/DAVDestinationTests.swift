import QuireCore
import Testing

@testable import QuireProviders

/// Servers behind a proxy that ends TLS, which take a Destination with a scheme for another server's.
@Suite("How a MOVE says where to")
struct DAVDestinationTests {
    private static let refusals = ["502 Bad Gateway", "400 Bad Request"]

    private func connected(
        _ manners: DAVStandIn.Manners
    ) async throws -> (server: DAVStandIn, provider: WebDAVProvider) {
        let server = try DAVStandIn(manners)
        let provider = server.provider()
        _ = try await provider.connect(expected: nil)
        return (server, provider)
    }

    /// Documents whole and in pieces of their own, directories, and what is put aside.
    private func move(_ provider: WebDAVProvider) async throws {
        let item = try await provider.putText("one", at: "a")
        _ = try await provider.move("a", to: "b", expecting: item.version)
        _ = try await provider.createDirectory("d", attributes: Bench.attributes())
        _ = try await provider.move("d", to: "e", expecting: nil)
        try await provider.delete("e", expecting: nil)
        #expect(try await provider.item(at: "b") != nil)
        #expect(try await provider.item(at: "e") == nil)
    }

    @Test("Where a whole URL is refused, the path alone is sent", arguments: refusals, [nil, "413 Content Too Large"])
    func path(refusal: String, halfRefusal: String?) async throws {
        let (server, provider) = try await connected(.init(halfRefusal: halfRefusal, urlRefusal: refusal))
        #expect(provider.client.destination.form == .path)
        #expect(provider.abilities.movesVersions && !provider.abilities.isUnsettled)
        #expect(provider.abilities.putsWhole == (halfRefusal == nil))
        server.with { $0.refusedMoves = 0 }
        try await move(provider)
        #expect(server.with { $0.refusedMoves } == 0)
    }

    @Test("Where a whole URL is taken, nothing else is tried", arguments: refusals)
    func url(refusal: String) async throws {
        let (server, provider) = try await connected(.init(pathRefusal: refusal))
        #expect(provider.client.destination.form == .url)
        try await move(provider)
        #expect(server.with { $0.refusedMoves } == 0)
    }

    @Test("Where neither is taken, the cause is named, until one is", arguments: refusals)
    func neither(refusal: String) async throws {
        let (server, provider) = try await connected(.init())
        let item = try await provider.putText("one", at: "a")
        server.with { ($0.manners.urlRefusal, $0.manners.pathRefusal) = (refusal, refusal) }
        let finding = DAVMoveProbe(client: provider.client, root: ".quire/tmp/x", abilities: provider.abilities)
        _ = try? await finding.run()
        do {
            _ = try await provider.move("a", to: "b", expecting: item.version)
            Issue.record("it was moved")
        } catch {
            #expect(error.message.contains("Host and scheme"), "\(error)")
            #expect(error.code == (refusal.hasPrefix("502") ? .unavailable : .failed))
        }
        server.with { $0.manners.pathRefusal = nil }
        _ = try await DAVMoveProbe(client: provider.client, root: ".quire/tmp/y", abilities: provider.abilities).run()
        _ = try await provider.move("a", to: "b", expecting: item.version)
    }
}
