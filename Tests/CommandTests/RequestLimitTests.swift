import Glibc
import QuireCore
import QuireTransport
import Synchronization
import Testing

/// How many requests of one client are answered at one time, and what becomes of the rest.
@Suite(.timeLimit(.minutes(1)))
struct RequestLimitTests {
    private enum Ping: WireMethod {
        static let name = "ping"
        typealias Parameters = WireNothing
        typealias Partial = WireNothing
        typealias Result = WireNothing
    }

    private enum Access: WireMethod {
        static let name = "access"
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
        _ serverLoop: MessageLoop, _ clientLoop: MessageLoop, limit: Int, waitingLimit: Int = .max
    ) throws -> (server: RPCPeer, client: RPCPeer) {
        let ends = try Self.socketPair()
        let server = RPCPeer(
            answersRequests: true, requestLimit: limit, waitingLimit: waitingLimit,
            lane: { $0.method == Access.name ? .claims : .work })
        let client = RPCPeer(answersRequests: false)
        server.attach(ends.server, to: serverLoop)
        client.attach(ends.client, to: clientLoop)
        return (server, client)
    }

    private static func socketPair() throws -> (server: Int32, client: Int32) {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        for end in ends { SocketAddress.prepare(end) }
        return (ends[0], ends[1])
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

    @Test("Work beyond the limit begins in order, what is too much is refused, and access waits for none")
    func order() async throws {
        let (serverLoop, clientLoop) = (try MessageLoop(), try MessageLoop())
        defer {
            clientLoop.stop()
            serverLoop.stop()
        }
        let (server, client) = try peers(serverLoop, clientLoop, limit: 2, waitingLimit: 3)
        let (answers, answer) = AsyncStream.makeStream(of: (number: Int, outcome: Result<String, QuireError>).self)
        for number in 0..<7 { client.send(Text.self, number) { answer.yield((number, $0)) } }
        var answered = answers.makeAsyncIterator()
        for number in [5, 6] {
            let (refused, outcome) = try #require(await answered.next())
            guard case .failure(let error) = outcome else {
                Issue.record("\(refused) is answered")
                continue
            }
            #expect(refused == number && error.code == .busy && error.message.contains("3 requests"))
        }
        client.send(Access.self, WireNothing()) { _ in }
        var requests = server.requests.makeAsyncIterator()
        var begun: [RPCIncoming] = []
        for _ in 0..<3 { begun.append(try #require(await requests.next())) }
        #expect(begun.map(\.method) == [Text.name, Text.name, Access.name])
        for number in 2..<5 {
            server.answer(begun.removeFirst().id, with: "")
            let next = try #require(await requests.next())
            #expect(try next.parameters(Int.self) == number)
            begun.insert(next, at: begun.startIndex)
        }
        client.close()
    }

    @Test("Work that waits when the other side ends its input is done all the same")
    func halfClosed() async throws {
        let loop = try MessageLoop()
        defer { loop.stop() }
        let ends = try Self.socketPair()
        defer { close(ends.client) }
        let server = RPCPeer(answersRequests: true, requestLimit: 1)
        server.attach(ends.server, to: loop)
        for number in 0..<5 {
            let line = try WireCodec.line(RPCRequest(id: .number(Int64(number)), method: Text.name, params: number))
            #expect(send(ends.client, line, line.count, 0) == line.count)
        }
        shutdown(ends.client, Int32(SHUT_WR))
        var numbers: [Int] = []
        for await request in server.requests {
            numbers.append(try request.parameters(Int.self))
            server.answer(request.id, with: "")
        }
        #expect(numbers == [0, 1, 2, 3, 4])
        server.close()
    }

    @Test("A client that reads no answers is not read for ever")
    func unread() async throws {
        let loop = try MessageLoop()
        defer { loop.stop() }
        let ends = try Self.socketPair()
        defer { close(ends.client) }
        let text = String(repeating: "a", count: WireLimits.messageBytes - 100)
        let server = RPCPeer(
            answersRequests: true,
            atOnce: { request, peer in
                peer.answer(request.id, with: text)
                return true
            })
        server.attach(ends.server, to: loop)
        // As long as what is read at one go: one request each time.
        let padding = String(repeating: "p", count: 64 << 10)
        let most = 4 * WireLimits.unreadBytes / WireLimits.messageBytes
        var (requests, isStuck) = (0, false)
        while requests < most, !isStuck {
            let request = RPCRequest(id: .number(Int64(requests)), method: Text.name, params: padding)
            var rest = try WireCodec.line(request)[...]
            while !rest.isEmpty, !isStuck {
                var waiting = pollfd(fd: ends.client, events: Int16(POLLOUT), revents: 0)
                // That nothing happens is no event; in time, it would be read.
                isStuck = poll(&waiting, 1, 3000) == 0
                let count = rest.withUnsafeBytes { send(ends.client, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT)) }
                if count > 0 { rest = rest.dropFirst(count) }
            }
            requests += 1
        }
        #expect(isStuck, "\(requests) requests")
        #expect(requests > WireLimits.unreadBytes / WireLimits.messageBytes)
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
