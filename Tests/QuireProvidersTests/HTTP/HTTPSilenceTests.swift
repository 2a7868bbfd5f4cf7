import Glibc
import QuireCore
import QuireProviders
import Synchronization
import Testing

/// When a connection on which nothing moves is given up, and when not.
@Suite("Silence on a connection", .timeLimit(.minutes(1)))
struct HTTPSilenceTests {
    private func transport(_ server: LoopbackServer, _ traffic: Traffic = Traffic()) -> HTTPTransport {
        var limits = HTTPTransport.Limits()
        limits.idle = .milliseconds(600)
        return HTTPTransport(
            origin: HTTPOrigin(isSecure: false, host: "127.0.0.1", port: server.port), limits: limits, traffic: traffic)
    }

    /// What becomes of a request, which is cancelled after so long.
    private func outcome(
        _ request: HTTPRequest, _ transport: HTTPTransport, within limit: Duration = .seconds(20)
    ) async -> Result<HTTPAnswer, ProviderError> {
        let sending = Task { () -> Result<HTTPAnswer, ProviderError> in
            do throws(ProviderError) { return .success(try await transport.send(request)) } catch {
                return .failure(error)
            }
        }
        let timer = Task {
            try await Task.sleep(for: limit)
            sending.cancel()
        }
        defer { timer.cancel() }
        return await sending.value
    }

    private func put(_ body: HTTPRequest.Body) -> HTTPRequest { HTTPRequest("PUT", "/f", body: body) }

    private func bytes(_ count: Int) -> HTTPRequest.Body { .bytes([UInt8](repeating: 0x61, count: count)) }

    private func file(_ count: Int, in work: borrowing TemporaryDirectory) -> HTTPRequest.Body {
        Plain.write([UInt8](repeating: 0x61, count: count), to: Array(work.appending("f").utf8))
        return .file(path: work.appending("f"), offset: 0, length: Int64(count))
    }

    @Test("A server that takes nothing more of an upload, and says nothing, is given up", arguments: [true, false])
    func takesNothing(isFile: Bool) async throws {
        let work = try TemporaryDirectory()
        let isOver = Cancellation()
        defer { isOver.cancel() }
        let server = try LoopbackServer { peer in
            _ = peer.read()
            while !isOver.isCancelled { usleep(10_000) }
        }
        let body = isFile ? file(32 << 20, in: work) : bytes(32 << 20)
        let failure = await outcome(put(body), transport(server), within: .seconds(10)).failure
        #expect(failure?.code == .unavailable)
        #expect(failure?.message.contains("stopped taking") ?? false)
    }

    @Test("A server that has all, and does not answer, is given up")
    func neverAnswers() async throws {
        let server = try LoopbackServer { peer in
            _ = peer.request()
            peer.waitForEnd()
        }
        let failure = await outcome(put(bytes(100_000)), transport(server), within: .seconds(10)).failure
        #expect(failure?.code == .unavailable)
    }

    @Test("An upload that flows is not broken off, however long it takes after it was handed over")
    func slowly() async throws {
        let server = try LoopbackServer(receiveBuffer: 64 << 10) { peer in
            var left = 2 << 20
            while left > 0, case let piece = peer.read(), !piece.isEmpty {
                left -= piece.count
                usleep(40_000)
            }
            peer.answer("201 Created")
            peer.waitForEnd()
        }
        #expect(try await outcome(put(bytes(2 << 20)), transport(server)).get().status == 201)
    }

    @Test("A server that has all and works is given time, by how much it was sent")
    func works() async throws {
        let server = try LoopbackServer(steps: [
            { peer, _ in
                usleep(1_500_000)
                peer.answer("201 Created")
            }
        ])
        #expect(try await outcome(put(bytes(4 << 20)), transport(server)).get().status == 201)
    }

    @Test("A server that copies is given the time that the request says, which is not sent")
    func copies() async throws {
        let server = try LoopbackServer(steps: [
            { peer, request in
                #expect(!request.head.lowercased().contains("quire"))
                usleep(1_500_000)
                peer.answer("201 Created")
            }
        ])
        var request = HTTPRequest("COPY", "/f")
        request.workTime = .seconds(5)
        #expect(try await outcome(request, transport(server)).get().status == 201)
    }

    @Test("An upload that waits for a limit of our own is not taken for one that the server does not take")
    func limitedUploads() async throws {
        let work = try TemporaryDirectory()
        let body = file(300_000, in: work)
        let server = try LoopbackServer(steps: [{ peer, _ in peer.answer("201 Created") }])
        let traffic = Traffic(up: ByteCount(400_000))
        let transport = transport(server, traffic)
        try await withThrowingTaskGroup(of: Int.self) { group in
            group.addTask { try await outcome(put(body), transport).get().status }
            for _ in 0..<3 { group.addTask { try await outcome(put(bytes(300_000)), transport).get().status } }
            for try await status in group { #expect(status == 201) }
        }
        #expect(traffic.up.total == 1_200_000)
    }

    @Test("What asks and tells does not wait behind documents that a limit holds back")
    func control() async throws {
        let server = try LoopbackServer(steps: [{ peer, _ in peer.answer("207 Multi-Status") }])
        let traffic = Traffic(up: ByteCount(100_000))
        let transport = transport(server, traffic)
        let uploads = (0..<3).map { _ in Task { await outcome(put(bytes(400_000)), transport) } }
        defer { for upload in uploads { upload.cancel() } }
        while traffic.up.total == 0 { await Task.yield() }
        let asked = HTTPRequest("PROPFIND", "/", body: bytes(200))
        #expect(try await outcome(asked, transport, within: .seconds(2)).get().status == 207)
    }

    @Test("A download that a limit of our own holds back comes whole, in pieces that come often")
    func limitedDownload() async throws {
        let server = try LoopbackServer { peer in
            _ = peer.request()
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n")
            peer.send([UInt8](repeating: 0x61, count: 3_000_000))
            peer.waitForEnd()
        }
        let transport = transport(server, Traffic(down: ByteCount(1_000_000)))
        let total = Lock(0)
        let largest = Lock(0)
        let answer = try await transport.receive(HTTPRequest("GET", "/")) { (piece) throws(ProviderError) in
            total.withLock { $0 += piece.count }
            largest.withLock { $0 = max($0, piece.count) }
        }
        #expect(answer.status == 200 && total.withLock { $0 } == 3_000_000)
        #expect(largest.withLock { $0 } <= 125_000)
    }
}
