import QuireCore
import QuireTransport
import Testing

@testable import Quire

@Suite("Metadata query", .timeLimit(.minutes(1)))
struct MetadataQueryTests {
    private static let failure = QuireError(.unavailable, "gone")

    /// A query that never hears anything but what a test hands it, run for the second time.
    private static func running() async throws -> (MetadataQuery, FakeDaemon) {
        let daemon = try FakeDaemon { request, _ in
            request.method == QueryMethods.Live.name ? nil : FakeDaemon.Standard()
        }
        let query = MetadataQuery(drive: try await daemon.connect())
        query.predicate = .name == "a"
        #expect(query.start())
        await daemon.heard(QueryMethods.Live.name)
        query.stop()
        #expect(query.start())
        await daemon.heard(QueryMethods.Live.name, times: 2)
        return (query, daemon)
    }

    @Test("What a run that was ended still brings does not end the next one, nor counts as gathered")
    func former() async throws {
        let (query, daemon) = try await Self.running()
        query.take(.failed(Self.failure), of: 1)
        query.take(.update(QueryMethods.Update(gathered: 0)), of: 1)
        #expect(query.isStarted && query.isGathering)
        #expect(!query.start())
        query.take(.update(QueryMethods.Update(gathered: 0)), of: 3)
        #expect(query.isStarted && !query.isGathering)
        query.take(.failed(Self.failure), of: 3)
        #expect(!query.isStarted)
        withExtendedLifetime(daemon) {}
    }

    @Test("A query that the daemon has no room for is asked for more and more seldom, and says that it gathers")
    func busy() async throws {
        let daemon = try FakeDaemon { request, peer in
            guard request.method == QueryMethods.Live.name else { return FakeDaemon.Standard() }
            peer.answer(request.id, with: RPCError(QuireError(.busy, "as many as may run")))
            return nil
        }
        let query = MetadataQuery(drive: try await daemon.connect())
        query.predicate = .name == "a"
        let start = ContinuousClock.now
        #expect(query.start())
        await daemon.heard(QueryMethods.Live.name, times: 6)
        #expect(ContinuousClock.now - start >= .milliseconds(600))
        #expect(query.isStarted && query.isGathering)
        query.stop()
    }

    @Test("What waits while updates are disabled is dropped with its run")
    func waiting() async throws {
        let (query, daemon) = try await Self.running()
        query.disableUpdates()
        query.take(.update(QueryMethods.Update(gathered: 0)), of: 3)
        query.predicate = .name == "b"
        query.enableUpdates()
        #expect(query.isStarted && query.isGathering)
        withExtendedLifetime(daemon) {}
    }
}
