import Foundation
import Glibc
import Logging
import QuireCoordination
import QuireCore
import Synchronization
import Testing

@testable import QuireTransport
@testable import QuireMain

/// A method for tests: answers with its text, in parts when asked, or waits.
private enum Echo: WireMethod {
    static let name = "echo"

    struct Parameters: Codable, Sendable {
        var text: String
        var parts: Int?
        var waits: Bool?
    }

    typealias Partial = [String]

    struct Result: Codable, Sendable {
        var text: String
    }
}

/// A server on a fresh home, with what tests look at.
private struct TestServer {
    let directory: TemporaryDirectory
    let server: ControlServer
    /// Calls that began to wait, and those whose wait was cancelled.
    let waiting = AsyncStream.makeStream(of: String.self)

    var home: String { directory.path }

    init(clientLimit: Int = WireLimits.clients, adding addMethods: (inout MethodTable) -> Void = { _ in }) throws {
        directory = try TemporaryDirectory()
        var methods = MethodTable()
        let events = waiting.continuation
        methods.on(Echo.self) { parameters, context in
            if parameters.waits == true {
                events.yield("waits")
                let never = CancelSignal()
                await never.wait()
                events.yield("cancelled")
                throw CancellationError()
            }
            for part in 0..<(parameters.parts ?? 0) { await context.sendPartial(["\(part)", parameters.text]) }
            if parameters.text == "fail" { throw QuireError(.notFound, "no such thing", remedy: "Look elsewhere") }
            return Echo.Result(text: parameters.text)
        }
        methods.onAtOnce(Echo.self) { parameters, _ in
            switch parameters.text {
            case "which thread": return Echo.Result(text: try Self.threadName())
            case "fail at once": throw QuireError(.busy, "not now")
            default: return nil
            }
        }
        addMethods(&methods)
        server = try ControlServer(
            home: directory.path, methods: methods, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            clientLimit: clientLimit)
    }

    private static func threadName() throws -> String {
        try String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8).trimmingCharacters(in: .newlines)
    }

    /// Serves while `body` runs.
    func serving(_ body: (TestServer) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await server.run() }
            defer { server.close() }
            try await body(self)
            group.cancelAll()
        }
    }

    func event() async -> String? {
        for await event in waiting.stream { return event }
        return nil
    }
}

@Suite("Control socket", .timeLimit(.minutes(1)))
struct ControlServerTests {
    @Test("A call is answered")
    func answers() async throws {
        try await TestServer().serving { test in
            let connection = try DriveConnection(home: test.home)
            let parts = Lock<[[String]]>([])
            let result = try await connection.call(Echo.self, .init(text: "é\n", parts: 3)) { part in
                parts.withLock { $0.append(part) }
            }
            #expect(result.text == "é\n")
            #expect(parts.withLock { $0 } == [["0", "é\n"], ["1", "é\n"], ["2", "é\n"]])
        }
    }

    @Test("An error keeps its kind, message and remedy")
    func errors() async throws {
        try await TestServer().serving { test in
            let connection = try DriveConnection(home: test.home)
            let error = await #expect(throws: QuireError.self) {
                _ = try await connection.call(Echo.self, .init(text: "fail"))
            }
            #expect(error?.code == .notFound)
            #expect(error?.description == "no such thing. Look elsewhere")
        }
    }

    @Test("What needs no waiting is answered on the socket's thread, and everything else in a task")
    func atOnce() async throws {
        try await TestServer().serving { test in
            let connection = try DriveConnection(home: test.home)
            // Once more until the server has begun to serve: before, requests wait for their task.
            while try await connection.call(Echo.self, .init(text: "which thread")).text == "which thread" {}
            #expect(try await connection.call(Echo.self, .init(text: "which thread")).text == "quire-socket")
            let error = await #expect(throws: QuireError.self) {
                _ = try await connection.call(Echo.self, .init(text: "fail at once"))
            }
            #expect(error?.code == .busy)
            #expect(try await connection.call(Echo.self, .init(text: "another")).text == "another")
        }
    }

    @Test("With as many requests under way as there may be, the client is read on")
    func readsOn() async throws {
        try await TestServer().serving { test in
            let connection = try DriveConnection(home: test.home)
            while try await connection.call(Echo.self, .init(text: "which thread")).text == "which thread" {}
            var first: RPCIdentifier?
            for _ in 0..<WireLimits.requestsPerClient {
                let id = connection.peer.send(Echo.self, .init(text: "", waits: true)) { _ in }
                first = first ?? id
                #expect(await test.event() == "waits")
            }
            let next = Task { try await connection.call(Echo.self, .init(text: "next")).text }
            #expect(try await connection.call(Echo.self, .init(text: "which thread")).text == "quire-socket")
            let (failures, failure) = AsyncStream.makeStream(of: QuireError.Code?.self)
            let last = try #require(
                connection.peer.send(Echo.self, .init(text: "", waits: true)) {
                    if case .failure(let error) = $0 { failure.yield(error.code) } else { failure.yield(nil) }
                })
            connection.peer.notify(WireCancel.method, WireCancel(id: last))
            #expect(await failures.first { _ in true } == .temporary)
            // The next in order begins in its place.
            connection.peer.notify(WireCancel.method, WireCancel(id: try #require(first)))
            #expect(await test.event() == "cancelled")
            #expect(try await next.value == "next")
        }
    }

    @Test("Behind work without end, a client's waits for access begin, and what it holds is given back")
    func claimsBesideWork() async throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let service = CoordinationService(coordinator: Coordinator(), logger: logger)
        try await TestServer(adding: service.addMethods).serving { test in
            let connection = try DriveConnection(home: test.home)
            for _ in 0..<WireLimits.requestsPerClient {
                connection.peer.send(Echo.self, .init(text: "", waits: true)) { _ in }
                #expect(await test.event() == "waits")
            }
            connection.peer.send(Echo.self, .init(text: "", waits: true)) { _ in }
            let write = CoordinationMethods.Acquire.Parameters([.init(path: WirePath("doc"), access: "write")])
            let held = try await connection.call(CoordinationMethods.Acquire.self, write)
            let next = Task { try await connection.call(CoordinationMethods.Acquire.self, write) }
            let other = try DriveConnection(home: test.home)
            while try await other.call(CoordinationMethods.Dump.self).claims.count < 2 { await Task.yield() }
            _ = try await connection.call(CoordinationMethods.Release.self, .init(claim: held.claim))
            #expect(try await next.value.paths == held.paths)
        }
    }

    @Test("The socket is its owner's alone, and goes when the server ends")
    func permissions() async throws {
        let test = try TestServer()
        var status = stat()
        try await test.serving { test in
            #expect(stat("\(test.home)/daemon.sock", &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600)
        }
        #expect(stat("\(test.home)/daemon.sock", &status) != 0)
    }

    @Test(
        "Garbage is told and closes its own connection only",
        arguments: [
            "garbage\n", "{\"a\":\n", "[1,2]\n", "\u{0}\u{1}\n", "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"echo\"}\n",
        ])
    func garbage(text: String) async throws {
        try await TestServer().serving { test in
            let good = try RawClient(home: test.home)
            let bad = try RawClient(home: test.home)
            bad.send(text)
            let answer = try #require(try await bad.line())
            #expect(answer.contains("\"error\"") && answer.contains("\"id\":null"))
            #expect(try await bad.line() == nil)
            good.send(#"{"jsonrpc":"2.0","id":"a","method":"echo","params":{"text":"x"}}"# + "\n")
            #expect(try await good.line() == #"{"id":"a","jsonrpc":"2.0","result":{"text":"x"}}"#)
        }
    }

    @Test("Unknown methods and wrong parameters are errors that keep the connection")
    func wrongCalls() async throws {
        try await TestServer().serving { test in
            let client = try RawClient(home: test.home)
            client.send(#"{"jsonrpc":"2.0","id":1,"method":"nothing"}"# + "\n")
            #expect(try #require(try await client.line()).contains("-32601"))
            client.send(#"{"jsonrpc":"2.0","id":2,"method":"echo","params":{}}"# + "\n")
            let answer = try #require(try await client.line())
            #expect(answer.contains("-32602") && answer.contains("text"))
            client.send(#"{"jsonrpc":"2.0","id":3,"method":"echo","params":{"text":"ok"}}"# + "\n")
            #expect(try #require(try await client.line()).contains("ok"))
        }
    }

    @Test("A message may come in any pieces, and several in one")
    func pieces() async throws {
        try await TestServer().serving { test in
            let client = try RawClient(home: test.home)
            for byte in Array((#"{"jsonrpc":"2.0","id":1,"method":"echo","params":{"text":"é"}}"# + "\n").utf8) {
                client.send([byte])
            }
            #expect(try #require(try await client.line()).contains("é"))
            let two = (2...3).map { #"{"jsonrpc":"2.0","id":\#($0),"method":"echo","params":{"text":"t"}}"# + "\n" }
            client.send(two.joined())
            let answers = [try await client.line(), try await client.line()].compactMap { $0 }
            #expect(answers.contains { $0.contains("\"id\":2") } && answers.contains { $0.contains("\"id\":3") })
        }
    }

    @Test("A message of the greatest length is answered, a longer one is refused")
    func lengths() async throws {
        try await TestServer().serving { test in
            let frame = #"{"jsonrpc":"2.0","id":1,"method":"echo","params":{"text":""}}"#.utf8.count
            func message(_ length: Int) -> String {
                let text = String(repeating: "x", count: length - frame)
                return #"{"jsonrpc":"2.0","id":1,"method":"echo","params":{"text":"\#(text)"}}"# + "\n"
            }
            let fits = try RawClient(home: test.home)
            fits.send(message(WireLimits.messageBytes))
            #expect(try #require(try await fits.line()).utf8.count > WireLimits.messageBytes / 2)
            let long = try RawClient(home: test.home)
            long.send(message(WireLimits.messageBytes + 1))
            #expect(try #require(try await long.line()).contains("longer than"))
            #expect(try await long.line() == nil)
        }
    }

    @Test("A client that ends its input still gets its answer")
    func halfClosed() async throws {
        try await TestServer().serving { test in
            let client = try RawClient(home: test.home)
            client.send(#"{"jsonrpc":"2.0","id":1,"method":"echo","params":{"text":"x"}}"# + "\n{\"half")
            client.endInput()
            #expect(try #require(try await client.line()).contains("\"x\""))
            #expect(try await client.line() == nil)
        }
    }

    @Test("A client that goes takes its calls with it")
    func disconnect() async throws {
        try await TestServer().serving { test in
            var client: RawClient? = try RawClient(home: test.home)
            client?.send(#"{"jsonrpc":"2.0","id":1,"method":"echo","params":{"text":"","waits":true}}"# + "\n")
            #expect(await test.event() == "waits")
            client = nil
            #expect(await test.event() == "cancelled")
        }
    }

    @Test("A cancelled call ends on both sides")
    func cancellation() async throws {
        try await TestServer().serving { test in
            let connection = try DriveConnection(home: test.home)
            let call = Task { try await connection.call(Echo.self, .init(text: "", waits: true)) }
            #expect(await test.event() == "waits")
            call.cancel()
            await #expect(throws: QuireError.self) { _ = try await call.value }
            #expect(await test.event() == "cancelled")
            #expect(try await connection.call(Echo.self, .init(text: "after")).text == "after")
        }
    }

    @Test("Many calls at once are all answered, above the number that run at one time")
    func manyCalls() async throws {
        try await TestServer().serving { test in
            let connection = try DriveConnection(home: test.home)
            let answers = try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<500 {
                    group.addTask { try await connection.call(Echo.self, .init(text: "\(number)")).text }
                }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(answers.count == 500)
        }
    }

    @Test("Closing a connection ends its calls, whichever thread reads it just then")
    func closing() async throws {
        try await TestServer().serving { test in
            for _ in 0..<50 {
                let connection = try DriveConnection(home: test.home)
                await withTaskGroup(of: Void.self) { group in
                    for number in 0..<16 {
                        group.addTask {
                            do throws(QuireError) {
                                let answer = try await connection.call(Echo.self, .init(text: "\(number)"))
                                #expect(answer.text == "\(number)")
                            } catch {
                                #expect(error.code == .unavailable)
                            }
                        }
                    }
                    group.addTask { connection.close() }
                }
                await connection.waitUntilClosed()
            }
        }
    }

    @Test("Clients above the limit get a clear error, and room comes back")
    func clientLimit() async throws {
        try await TestServer(clientLimit: 5).serving { test in
            var clients = try (0..<5).map { _ in try RawClient(home: test.home) }
            for client in clients {
                client.send(#"{"jsonrpc":"2.0","id":1,"method":"echo","params":{"text":"in"}}"# + "\n")
                #expect(try #require(try await client.line()).contains("in"))
            }
            let refused = try RawClient(home: test.home)
            #expect(try #require(try await refused.line()).contains("its most clients already (5)"))
            #expect(try await refused.line() == nil)
            clients.removeAll()
            while true {
                let next = try RawClient(home: test.home)
                next.send(#"{"jsonrpc":"2.0","id":1,"method":"echo","params":{"text":"in"}}"# + "\n")
                if try #require(try await next.line()).contains("\"in\"") { break }
            }
        }
    }

    @Test("A reader that is slow slows the writer and loses nothing")
    func slowReader() async throws {
        try await TestServer().serving { test in
            let client = try RawClient(home: test.home)
            let text = String(repeating: "y", count: 50_000)
            client.send(#"{"jsonrpc":"2.0","id":1,"method":"echo","params":{"text":"\#(text)","parts":100}}"# + "\n")
            let other = try DriveConnection(home: test.home)
            #expect(try await other.call(Echo.self, .init(text: "quick")).text == "quick")
            var parts = 0
            while let line = try await client.line(), line.contains("\"partial\"") { parts += 1 }
            #expect(parts == 100)
        }
    }

    @Test("Without a daemon the error says what to do")
    func noDaemon() throws {
        let directory = try TemporaryDirectory()
        for home in [directory.path, "\(directory.path)/none"] {
            do {
                _ = try DriveConnection(home: home)
                Issue.record("connected")
            } catch {
                #expect(error.code == .unavailable)
                #expect(error.description.contains("quire mount"))
            }
        }
    }
}
