import QuireCore
import Testing

@testable import QuireProviders

/// Stores that do not list keys as AWS does when it is asked for encoded ones, and markers that are more than markers.
@Suite("Names in S3 listings")
struct S3ListedNamesTests {
    private func refused(_ manner: S3StandIn.Manner) async throws -> Set<UInt8> {
        let server = try S3StandIn(manner)
        return try await S3Probe.run(server.client).refusedBytes
    }

    @Test("A store that lists keys as they are is given all names but those that XML cannot hold")
    func plain() async throws {
        #expect(try await refused(.plain) == Set(1..<0x20).subtracting([0x09, 0x0A]))
    }

    @Test("A store that says that it encodes keys is given all names")
    func encoded() async throws {
        #expect(try await refused(.encoded).isEmpty)
    }

    @Test("A store that encodes keys without saying so is refused: its names cannot be told")
    func silent() async throws {
        let server = try S3StandIn(.silent)
        #expect(await refusal { try await S3Probe.run(server.client) } == .failed)
    }

    @Test("What a store does not list is not given to it")
    func unlisted() async throws {
        #expect(try await refused(.withoutPluses) == [UInt8(ascii: "+")])
    }

    @Test("An object with content whose key ends in a slash is not removed as the directory that it stands for")
    func fullMarker() async throws {
        let server = try S3StandIn()
        let provider = S3Provider(client: server.client)
        _ = try await provider.connect(expected: nil)
        server.with { state in
            state.objects[Array("full/".utf8)] = [1, 2, 3]
            state.objects[Array("empty/".utf8)] = []
        }
        guard case .everything(let items, _) = try await provider.changes(since: nil) else {
            Issue.record("a first listing names everything")
            return
        }
        #expect(Set(items.map(\.path)) == ["full", "empty"])
        #expect(await refusal { try await provider.delete("full", expecting: nil) } == .notEmpty)
        try await provider.delete("empty", expecting: nil)
        #expect(server.with { $0.objects[Array("full/".utf8)] } == [1, 2, 3])
        #expect(server.with { $0.objects[Array("empty/".utf8)] } == nil)
    }
}
