import QuireCore
import Testing

@testable import QuireProviders

/// Servers that do not show all of a directory, or move a part of it.
@Suite("Directories of WebDAV servers")
struct DAVDirectoryTests {
    /// A provider of a server with a directory `d`, in which another program has written documents.
    private func account(
        _ manners: DAVStandIn.Manners, _ documents: [String]
    ) async throws -> (server: DAVStandIn, provider: WebDAVProvider) {
        let server = try DAVStandIn(manners)
        let provider = server.provider()
        _ = try await provider.connect(expected: nil)
        server.with { state in
            state.makeCollection("d")
            for document in documents { state.write(document, "only copy") }
        }
        return (server, provider)
    }

    /// The same with an empty `d`, and another program that acts just before that is moved aside, for which there is a place.
    private func account(
        intruder: @escaping @Sendable (inout DAVStandIn.State, DAVStandInRequest) -> Void
    ) async throws -> (server: DAVStandIn, provider: WebDAVProvider) {
        let (server, provider) = try await account(DAVStandIn.Manners(), [])
        server.with { _ = $0.makeCollection("e") }
        try await provider.delete("e", expecting: nil)
        server.with { $0.intruder = (["MOVE"], "d", intruder) }
        return (server, provider)
    }

    @Test("A directory that the server refuses to list is not taken for an empty one")
    func unlisted() async throws {
        let (server, provider) = try await account(DAVStandIn.Manners(unlisted: "d"), ["d/a"])
        #expect(await refusal { try await provider.delete("d", expecting: nil) } == .permissionDenied)
        #expect(server.with { $0.nodes["d/a"] } != nil)
    }

    @Test("Where names may be hidden, a directory that seems empty is put aside with all that is in it")
    func hidden() async throws {
        let (server, provider) = try await account(DAVStandIn.Manners(hidesDotNames: true), ["d/.a"])
        try await provider.delete("d", expecting: nil)
        let paths = server.with { Array($0.nodes.keys) }
        #expect(!paths.contains { $0.hasPrefix("d") })
        #expect(paths.contains { $0.hasPrefix(".quire/kept/") && $0.hasSuffix("/.a") }, "\(paths)")
        guard case .everything(let items, _) = try await provider.changes(since: nil) else {
            throw ProviderError(.failed, "not everything is listed")
        }
        #expect(items.isEmpty)
        #expect(try await DAVProbe.hidesDotNames(provider.client))

        server.with { state in
            state.makeCollection("d")
            state.write("d/b", "shown")
        }
        #expect(await refusal { try await provider.delete("d", expecting: nil) } == .notEmpty)
    }

    @Test("Where all names are shown, an empty directory is removed")
    func shown() async throws {
        let (server, provider) = try await account(DAVStandIn.Manners(), [])
        try await provider.delete("d", expecting: nil)
        #expect(server.with { Set($0.nodes.keys.filter { !$0.hasPrefix(".quire/") }) } == ["", ".quire"])
        #expect(server.with { $0.nodes[".quire/kept"]?.names } == [])
        #expect(try await !DAVProbe.hidesDotNames(provider.client))
    }

    @Test("What is written into a directory at the moment when it is removed stays")
    func written() async throws {
        let (server, provider) = try await account(DAVStandIn.Manners(), [])
        server.with { $0.intruder = (["DELETE", "MOVE"], "d", { state, _ in state.write("d/late", "only copy") }) }
        #expect(await refusal { try await provider.delete("d", expecting: nil) } == .notEmpty)
        #expect(server.with { $0.nodes["d/late"] } != nil)
        #expect(server.with { $0.nodes[".quire/kept"]?.names } == [])
    }

    @Test("Where it was made again meanwhile, what was written joins what is there")
    func madeAgain() async throws {
        let (server, provider) = try await account { state, request in
            state.write("d/late", "one")
            state.write("d/same", "two")
            let aside = DAVStandInRequest.path(request.fields["destination"] ?? "")
            state.intruder = (
                ["PROPFIND"], aside,
                { state, _ in
                    state.makeCollection("d")
                    state.write("d/same", "three")
                }
            )
        }
        do {
            try await provider.delete("d", expecting: nil)
            Issue.record("it was removed")
        } catch {
            #expect(error.code == .failed && "\(error)".contains(".quire/kept/removed-"), "\(error)")
        }
        let texts = server.with { $0.nodes.mapValues { String(decoding: $0.content, as: UTF8.self) } }
        #expect(texts["d/late"] == "one" && texts["d/same"] == "three")
        #expect(texts.contains { $0.key.hasPrefix(".quire/kept/") && $0.key.hasSuffix("/same") && $0.value == "two" })
    }

    @Test("A removal that the server did without saying so is one, and what came meanwhile is put back")
    func unsaid() async throws {
        for isLate in [false, true] {
            let (server, provider) = try await account { state, request in
                if isLate { state.write("d/late", "only copy") }
                state.move("d", to: DAVStandInRequest.path(request.fields["destination"] ?? ""))
            }
            let refused = await refusal { try await provider.delete("d", expecting: nil) }
            #expect(refused == (isLate ? .notEmpty : nil))
            #expect(server.with { $0.nodes["d/late"] != nil } == isLate)
            #expect(server.with { $0.nodes[".quire/kept"]?.names } == [])
        }
    }

    @Test("A directory of which a part could be moved was not moved")
    func unmoved() async throws {
        let (server, provider) = try await account(DAVStandIn.Manners(unmoved: "b"), ["d/a", "d/b"])
        do {
            _ = try await provider.move("d", to: "e", expecting: nil)
            Issue.record("it was moved")
        } catch {
            #expect(error.code == .failed && "\(error)".contains("403") && "\(error)".contains("d/b"), "\(error)")
        }
        #expect(server.with { $0.nodes["d/b"] } != nil)
    }
}
