import QuireCore
import Testing

@testable import QuireProviders

/// A server whose disk goes away while the drive is in use: it answers 404 to everything.
@Suite("Documents that are gone, and stores that are")
struct DAVPresenceTests {
    private func account() async throws -> (server: DAVStandIn, provider: WebDAVProvider) {
        let server = try DAVStandIn(DAVStandIn.Manners())
        let provider = server.provider()
        _ = try await provider.connect(expected: nil)
        _ = try await provider.putText("one", at: "a")
        _ = server.takeLog()
        return (server, provider)
    }

    @Test("A document is gone only while the store is there, also right after that was seen")
    func unmounted() async throws {
        let (server, provider) = try await account()
        server.with { $0.trouble = DAVStandIn.Trouble(status: "404 Not Found", method: "PROPFIND") }
        #expect(try await provider.item(at: "a") == nil)
        server.with { $0.trouble = DAVStandIn.Trouble(status: "404 Not Found", method: "") }
        do {
            let item = try await provider.item(at: "a")
            Issue.record("\(item.debugDescription)")
        } catch {
            #expect(error.code == .unavailable && error.isOtherStore, "\(error)")
        }
        server.with { $0.trouble = nil }
        #expect(try await provider.item(at: "a") != nil)
    }

    @Test("Only a look that finds nothing costs one more request, and an upload's does not")
    func cost() async throws {
        let (server, provider) = try await account()
        _ = try await provider.item(at: "a")
        #expect(server.takeLog() == ["PROPFIND a"])
        _ = try await provider.item(at: "b")
        #expect(server.takeLog().filter { !$0.hasPrefix("PROPFIND") } == ["GET .quire/store.json"])
        _ = try await provider.putText("one", at: "b")
        #expect(!server.takeLog().contains("GET .quire/store.json"))
    }
}
