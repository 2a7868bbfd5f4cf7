import Glibc
import QuireCore
import QuireTransport
import Synchronization
import Testing

/// How many requests of one client are answered at one time.
@Suite(.timeLimit(.minutes(1)))
struct RequestLimitTests {
    private enum Ping: WireMethod {
        static let name = "ping"
        typealias Parameters = WireNothing
        typealias Partial = WireNothing
        typealias Result = WireNothing
    }

    private enum Text: WireMethod {
        static let name = "text"
        typealias Parameters = Int
        typealias Partial = WireNothing
        typealias Result = String
    }

    private func peers(
        _ serverLoop: MessageLoop, _ clientLoop: MessageLoop, limit: Int
    ) throws -> (server: RPCPeer, client: RPCPeer) {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        for end in ends { SocketAddress.prepare(end) }
        let server = RPCPeer(answersRequests: true, requestLimit: limit)
        let client = RPCPeer(answersRequests: false)
        server.attach(ends[0], to: serverLoop)
        client.attach(ends[1], to: clientLoop)
        return (server, client)
    }

    @Test("An answer that is too long for a message is an error of that request, and the connection stays")
    func longAnswer() async throws {
        let (serverLoop, clientLoop) = (try MessageLoop(), try MessageLoop())
        defer {
            clientLoop.stop()
            serverLoop.stop()
        }
        let (server, client) = try peers(serverLoop, clientLoop, limit: 4)
        let answering = Task.detached {
            for await request in server.requests {
                let length = try request.parameters(Int.self)
                server.answer(request.id, with: String(repeating: "a", count: length))
            }
        }
        for (length, isTaken) in [(10, true), (WireLimits.messageBytes, false), (10, true)] {
            let (answers, answer) = AsyncStream.makeStream(of: Bool.self)
            client.send(Text.self, length) { answer.yield((try? $0.get()) != nil) }
            var found = answers.makeAsyncIterator()
            #expect(await found.next() == isTaken, "\(length)")
        }
        client.close()
        try await answering.value
    }

    @Test("A request that comes just as another is answered, at the limit, stops nothing", arguments: [1, 2, 3])
    func limit(_ limit: Int) async throws {
        let (serverLoop, clientLoop) = (try MessageLoop(), try MessageLoop())
        defer {
            clientLoop.stop()
            serverLoop.stop()
        }
        let (server, client) = try peers(serverLoop, clientLoop, limit: limit)
        // On a thread of its own: the loop's reads on meanwhile.
        let answering = Task.detached {
            for await request in server.requests { server.answer(request.id, with: WireNothing()) }
        }
        let calls = 20_000
        let missing = Atomic(calls)
        let done = CancelSignal()
        for _ in 0..<calls {
            client.send(Ping.self, WireNothing()) { answer in
                if (try? answer.get()) == nil { Issue.record("no answer: \(answer)") }
                if missing.subtract(1, ordering: .relaxed).newValue == 0 { done.fire() }
            }
        }
        await done.wait()
        // Ended by the time limit, there are some: where the server's end reads nothing any more.
        try #require(missing.load(ordering: .relaxed) == 0)
        client.close()
        await answering.value
    }
}
