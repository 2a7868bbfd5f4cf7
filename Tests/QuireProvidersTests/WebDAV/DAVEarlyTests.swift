import QuireCore
import Synchronization
import Testing

@testable import QuireProviders

/// A server that is at work on what was uploaded when it is asked for it, as ownCloud Infinite Scale.
@Suite("What a WebDAV server is still at work on")
struct DAVEarlyTests {
    /// What the clock and the server share.
    private final class Counts: Sendable {
        private let counts = Lock((asked: 0, waited: Duration.zero))

        var asked: Int { counts.withLock { $0.asked } }
        var waited: Duration { counts.withLock { $0.waited } }

        func ask() -> Int {
            counts.withLock { counts in
                counts.asked += 1
                return counts.asked
            }
        }

        func wait(_ pause: Duration) { counts.withLock { $0.waited += pause } }
    }

    fileprivate enum Form: CaseIterable {
        case answer, resource, properties
    }

    /// A server that is done with `d/a` when it is asked for the `done`th time.
    private func account(_ form: Form, done: Int) throws -> (server: LoopbackServer, client: DAVClient, counts: Counts)
    {
        let counts = Counts()
        let server = try LoopbackServer(steps: [
            { peer, request in
                let isEarly = counts.ask() < done
                if isEarly, form == .answer { return peer.answer("425 Too Early") }
                let href = "<D:href>/dav/d/a</D:href>"
                let size = "<D:propstat><D:prop><D:getcontentlength>1</D:getcontentlength></D:prop>"
                let document =
                    switch (isEarly, form) {
                    case (false, _): "\(href)\(size)<D:status>HTTP/1.1 200 OK</D:status></D:propstat>"
                    case (true, .resource): "\(href)<D:status>HTTP/1.1 425 TOO EARLY</D:status>"
                    case (true, _): "\(href)\(size)<D:status>HTTP/1.1 425 TOO EARLY</D:status></D:propstat>"
                    }
                let directory = """
                    <D:response><D:href>/dav/d/</D:href><D:propstat><D:prop><D:resourcetype><D:collection/></D:resourcetype>\
                    </D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>
                    """
                let isListing = request.head.lowercased().contains("depth: 1")
                peer.answer(
                    "207 Multi-Status", ["Content-Type: text/xml"],
                    "<D:multistatus xmlns:D=\"DAV:\">\(isListing ? directory : "")<D:response>\(document)</D:response>"
                        + "</D:multistatus>")
            }
        ])
        let transport = HTTPTransport(origin: HTTPOrigin(isSecure: false, host: "127.0.0.1", port: server.port))
        var client = DAVClient(transport: transport, address: DAVAddress(origin: transport.origin, base: "/dav"))
        client.clock.pause = { (pause) async throws(ProviderError) in counts.wait(pause) }
        return (server, client, counts)
    }

    /// Asks for `d/a`, or for what is in `d`.
    private func size(_ client: DAVClient, isListing: Bool) async throws(ProviderError) -> Int64? {
        let found =
            isListing ? try await client.list("d") ?? [] : try await client.propfind("d/a", depth: "0") ?? []
        return found.first { $0.path == "d/a" }?.resource.size
    }

    @Test("It is waited for, in a listing and where it is looked at", arguments: [true, false], [1, 2, 7])
    func done(isListing: Bool, turn: Int) async throws {
        for form in Form.allCases {
            let (server, client, counts) = try account(form, done: turn)
            #expect(try await size(client, isListing: isListing) == 1)
            #expect(counts.asked == turn && (counts.waited > .zero) == (turn > 1))
            _ = consume server
        }
    }

    @Test("Half a minute at the most, and then who looks at it is told", arguments: Form.allCases)
    fileprivate func never(form: Form) async throws {
        let (server, client, counts) = try account(form, done: .max)
        do throws(ProviderError) {
            _ = try await size(client, isListing: false)
            Issue.record("it was read")
        } catch {
            #expect(error.code == .unavailable && error.message.contains("still at work on it"), "\(error)")
            #expect(form == .answer || error.message.hasPrefix("d/a "), "\(error)")
        }
        #expect(counts.asked == 7 && counts.waited == .seconds(30))
        _ = consume server
    }

    @Test(
        "In a listing it is unseen then, and not waited for again until it is done",
        arguments: [Form.resource, .properties])
    fileprivate func unseen(form: Form) async throws {
        let (server, client, counts) = try account(form, done: 10)
        for asked in [7, 8] {
            let items = try await items(client)
            #expect(items.map(\.path) == ["d/a"] && items.first?.unseen?.contains("still at work on it") == true)
            #expect(counts.asked == asked && counts.waited == .seconds(30))
        }
        _ = counts.ask()
        #expect(try await items(client).map(\.unseen) == [nil])
        #expect(counts.asked == 10 && !client.early.isWaitedFor([]))
        _ = consume server
    }

    private func items(_ client: DAVClient) async throws -> [RemoteItem] {
        try await DAVWalk(client: client, stamps: false, listsAll: false).list(in: ["d"])
    }
}
