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

    @Test("A directory that the server refuses to list is not taken for an empty one")
    func unlisted() async throws {
        let (server, provider) = try await account(DAVStandIn.Manners(unlisted: "d"), ["d/a"])
        #expect(await refusal { try await provider.delete("d", expecting: nil) } == .permissionDenied)
        #expect(server.with { $0.nodes["d/a"] } != nil)
    }
}
