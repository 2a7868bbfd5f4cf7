import Glibc
import QuireCore
import QuireProviders
import Synchronization
import Testing

@Suite("Requests over HTTP")
struct HTTPTransportTests {
    /// Waits that a test can wait for.
    static var limits: HTTPTransport.Limits {
        var limits = HTTPTransport.Limits()
        limits.connect = .seconds(2)
        limits.idle = .milliseconds(300)
        return limits
    }

    private func transport(
        _ server: LoopbackServer, _ authorizer: (any HTTPAuthorizer)? = nil,
        limits: HTTPTransport.Limits = HTTPTransport.Limits()
    ) -> HTTPTransport {
        HTTPTransport(
            origin: HTTPOrigin(isSecure: false, host: "127.0.0.1", port: server.port), authorizer: authorizer,
            limits: limits)
    }

    private func get(_ transport: HTTPTransport, _ path: String = "/") async -> Result<HTTPAnswer, ProviderError> {
        do throws(ProviderError) {
            return .success(try await transport.send(HTTPRequest("GET", path)))
        } catch {
            return .failure(error)
        }
    }

    @Test("An answer comes with status, fields in any case, and body")
    func answer() async throws {
        let server = try LoopbackServer(steps: [
            { peer, request in
                #expect(request.head.hasPrefix("GET /a%20b/%C3%A9?x=1 HTTP/1.1\r\n"))
                peer.answer("200 OK", ["ETag: \"1\"", "x-thing: one", "X-Thing: two"], "hello")
            }
        ])
        let answer = try await transport(server).send(HTTPRequest("GET", "/a%20b/%C3%A9", query: "x=1"))
        #expect(answer.status == 200 && answer.body == Array("hello".utf8))
        #expect(answer.fields["etag"] == "\"1\"" && answer.fields.values(of: "X-THING") == ["one", "two"])
    }

    @Test("A file's part is sent with its exact length", arguments: [0, 5, 3_000_000])
    func upload(length: Int) async throws {
        let work = try TemporaryDirectory()
        let bytes = (0..<length + 20).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        Plain.write(bytes, to: Array(work.appending("f").utf8))
        let server = try LoopbackServer(steps: [
            { peer, request in
                #expect("\(request.head)\r\n".lowercased().contains("content-length: \(length)\r\n"))
                #expect(!request.head.lowercased().contains("expect:"))
                #expect(request.body == Array(bytes[10..<10 + length]))
                peer.answer("201 Created")
            }
        ])
        let body = HTTPRequest.Body.file(path: work.appending("f"), offset: 10, length: Int64(length))
        #expect(try await transport(server).send(HTTPRequest("PUT", "/f", body: body)).status == 201)
    }

    @Test("A file that has become shorter is not sent as if it were whole")
    func shortFile() async throws {
        let work = try TemporaryDirectory()
        Plain.write("short", to: work.appending("f"))
        let server = try LoopbackServer { peer in #expect(peer.request() == nil, "the body never ends") }
        let body = HTTPRequest.Body.file(path: work.appending("f"), offset: 0, length: 6)
        let transport = transport(server)
        #expect(await refusal { try await transport.send(HTTPRequest("PUT", "/f", body: body)) } == .corrupt)
    }

    @Test("Content that is another than announced is never sent to its end", arguments: [0, 1, 300_000, 1 << 20])
    func changedFile(length: Int) async throws {
        let work = try TemporaryDirectory()
        let bytes = [UInt8](repeating: 0x61, count: length)
        Plain.write(bytes, to: Array(work.appending("f").utf8))
        func body(_ checksum: ContentChecksum) -> HTTPRequest.Body {
            .file(path: work.appending("f"), offset: 0, length: Int64(length), checksum: checksum)
        }
        let server = try LoopbackServer { peer in
            while let request = peer.request() {
                #expect(request.head.contains("/right"), "the body of another never ends")
                #expect(request.body == bytes)
                peer.answer("201 Created")
            }
        }
        let transport = transport(server)
        let wrong = HTTPRequest("PUT", "/wrong", body: body(.sha256(of: [1])))
        #expect(await refusal { try await transport.send(wrong) } == .corrupt)
        let right = HTTPRequest("PUT", "/right", body: body(.sha256(of: bytes)))
        #expect(try await transport.send(right).status == 201)
    }

    @Test("A document is sent to its end when who holds it agrees to all that was read", arguments: [0, 1, 3_000_000])
    func sealed(length: Int) async throws {
        let work = try TemporaryDirectory()
        let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 / 7) }
        Plain.write(bytes, to: Array(work.appending("f").utf8))
        func body(_ agrees: Bool) -> HTTPRequest.Body {
            .live(
                LiveDocument(path: work.appending("f"), size: ByteCount(Int64(length))) {
                    (checksum) throws(ProviderError) in
                    #expect(checksum == .sha256(of: bytes))
                    if !agrees { throw ProviderError(.corrupt, "it has changed") }
                })
        }
        let server = try LoopbackServer { peer in
            while let request = peer.request() {
                #expect(request.head.contains("/right"), "the body of another never ends")
                #expect(request.body == bytes)
                peer.answer("201 Created")
            }
        }
        let transport = transport(server)
        #expect(await refusal { try await transport.send(HTTPRequest("PUT", "/wrong", body: body(false))) } == .corrupt)
        #expect(try await transport.send(HTTPRequest("PUT", "/right", body: body(true))).status == 201)
    }

    @Test("Where nobody listens, and where the name is unknown, that is said, at once")
    func unreachable() async throws {
        let server = try LoopbackServer { _ in }
        let port = server.port
        _ = consume server
        let gone = HTTPTransport(origin: HTTPOrigin(isSecure: false, host: "127.0.0.1", port: port))
        let began = ContinuousClock.now
        let refused = try #require(await get(gone).failure)
        #expect(refused.code == .unavailable && refused.message.contains("refuses connections"))
        let unknown = HTTPTransport(origin: HTTPOrigin(isSecure: false, host: "no-such-host.invalid"))
        let error = try #require(await get(unknown).failure)
        #expect(error.code == .unavailable && error.message.contains("cannot be resolved"))
        #expect(ContinuousClock.now - began < .seconds(9))
    }

    @Test(
        "An answer that is cut, late, false or no HTTP is an error that may be retried",
        arguments: [
            "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello",
            "\u{0}\u{1}\u{2}garbage\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", "",
        ])
    func cut(text: String) async throws {
        let server = try LoopbackServer { peer in
            _ = peer.request()
            peer.send(text)
        }
        let error = try #require(await get(transport(server)).failure)
        #expect(error.code == .unavailable && error.isRetryable)
    }

    @Test(
        "A server that goes silent before or in its answer is given up",
        arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhal"])
    func silent(text: String) async throws {
        let server = try LoopbackServer { peer in
            _ = peer.request()
            peer.send(text)
            peer.waitForEnd()
        }
        let error = try #require(await get(transport(server, limits: Self.limits)).failure)
        #expect(error.code == .unavailable)
    }

    @Test("An answer that drips for ever ends at the request's time limit")
    func dripping() async throws {
        let server = try LoopbackServer { peer in
            _ = peer.request()
            peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            let isGone = Cancellation()
            let watcher = OwnedThread(name: "watcher") {
                peer.waitForEnd()
                isGone.cancel()
            }
            while !isGone.isCancelled {
                peer.send("1\r\nx\r\n")
                usleep(20_000)
            }
            watcher?.join()
        }
        let transport = transport(server)
        var request = HTTPRequest("GET", "/")
        request.timeLimit = .milliseconds(300)
        let code = await refusal { [request] in try await transport.send(request) }
        #expect(code == .unavailable)
    }

    @Test("An answer larger than expected is refused")
    func large() async throws {
        let server = try LoopbackServer(steps: [
            { peer, _ in
                peer.answer("200 OK", [], String(repeating: "x", count: 200_000))
            }
        ])
        let transport = transport(server)
        #expect(await refusal { try await transport.send(HTTPRequest("GET", "/"), limit: 100_000) } == .failed)
    }

    @Test("A body streams in pieces, and the server is held back while one is worked on")
    func backPressure() async throws {
        let sent = Lock(0)
        let server = try LoopbackServer { peer in
            _ = peer.request()
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(64 << 20)\r\n\r\n")
            for _ in 0..<64 {
                peer.send([UInt8](repeating: 0x61, count: 1 << 20))
                sent.withLock { $0 += 1 }
            }
        }
        let transport = transport(server)
        let gate = Gate()
        let total = Lock(0)
        let task = Task {
            try await transport.receive(HTTPRequest("GET", "/")) { (bytes) throws(ProviderError) in
                await gate.pass()
                total.withLock { $0 += bytes.count }
            }
        }
        await gate.waitForArrivals()
        // As much as sockets and the client buffer, however long one waits: far from all.
        try await Task.sleep(for: .milliseconds(200))
        #expect(sent.withLock { $0 } < 32)
        gate.open()
        #expect(try await task.value.status == 200)
        #expect(total.withLock { $0 } == 64 << 20)
    }

    @Test("What came of an answer before it was cut is handed on")
    func cut() async throws {
        let server = try LoopbackServer { peer in
            _ = peer.request()
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n")
            peer.send([UInt8](repeating: 0x61, count: 100_000))
        }
        let transport = transport(server)
        let total = Lock(0)
        let code = await refusal {
            try await transport.receive(HTTPRequest("GET", "/")) { (piece) throws(ProviderError) in
                total.withLock { $0 += piece.count }
            }
        }
        #expect(code == .unavailable && total.withLock { $0 } == 100_000)
    }

    @Test("A refusal's words are kept whole, however slowly they come")
    func slowWords() async throws {
        let server = try LoopbackServer { peer in
            _ = peer.request()
            peer.send("HTTP/1.1 409 Conflict\r\nContent-Length: 10\r\n\r\n")
            for byte in "0123456789".utf8 {
                usleep(10_000)
                peer.send([byte])
            }
            peer.waitForEnd()
        }
        let answer = try await transport(server).send(HTTPRequest("GET", "/"))
        #expect(answer.status == 409 && answer.body == Array("0123456789".utf8))
    }

    @Test("A server that refuses what it has not read is heard", arguments: [60_000, 8 << 20])
    func earlyRefusal(length: Int) async throws {
        let work = try TemporaryDirectory()
        Plain.write([UInt8](repeating: 0x61, count: length), to: Array(work.appending("f").utf8))
        let server = try LoopbackServer { peer in
            _ = peer.read()
            peer.answer("507 Insufficient Storage", [], "full")
            // The connection stays open, and nobody reads from it.
            usleep(500_000)
        }
        let body = HTTPRequest.Body.file(path: work.appending("f"), offset: 0, length: Int64(length))
        let answer = try await transport(server).send(HTTPRequest("PUT", "/f", body: body))
        #expect(answer.status == 507 && answer.body == Array("full".utf8))
    }

    @Test("A server that hangs up as soon as it has answered is heard, by eight at a time")
    func hangingUp() async throws {
        let server = try LoopbackServer { peer in
            guard let request = peer.request() else { return }
            peer.answer("207 Multi-Status", ["Connection: close"], "\(request.body.count)")
        }
        let transport = transport(server)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for round in 0..<40 {
                        let body = HTTPRequest.Body.bytes([UInt8](repeating: 0x61, count: 200))
                        let request = HTTPRequest("PROPFIND", "/", body: round % 2 == 0 ? body : .none)
                        let answer = try? await transport.send(request)
                        #expect(answer?.body == Array((round % 2 == 0 ? "200" : "0").utf8), "round \(round)")
                    }
                }
            }
        }
    }

    @Test("Cancelling ends a request at once, before its answer and in it", arguments: [true, false])
    func cancel(inBody: Bool) async throws {
        let arrived = Gate()
        let server = try LoopbackServer { peer in
            _ = peer.request()
            if inBody { peer.send("HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\nhalf") }
            Task { await arrived.pass() }
            peer.waitForEnd()
        }
        arrived.open()
        let transport = transport(server)
        let task = Task { await get(transport) }
        await arrived.waitForArrivals()
        let began = ContinuousClock.now
        task.cancel()
        #expect(await task.value.failure?.code == .cancelled)
        #expect(ContinuousClock.now - began < .seconds(5))
    }

    @Test("A kept connection that the server has closed is replaced for a safe request, and reported for others")
    func staleConnection() async throws {
        let server = try LoopbackServer { peer in
            _ = peer.request()
            peer.answer("200 OK")
            // The next request is read and never answered.
            if let second = peer.request() { #expect(!second.head.isEmpty) }
        }
        let transport = transport(server)
        #expect(try await transport.send(HTTPRequest("GET", "/")).status == 200)
        #expect(try await transport.send(HTTPRequest("GET", "/")).status == 200)
        #expect(await refusal { try await transport.send(HTTPRequest("PUT", "/")) } == .unavailable)
    }

    @Test("Redirects are followed for safe requests and within the server, and otherwise told")
    func redirects() async throws {
        let server = try LoopbackServer { peer in
            while let request = peer.request() {
                if request.head.contains(" /here") {
                    peer.answer("302 Found", ["Location: /there?x=1"])
                } else if request.head.contains(" /there?x=1") {
                    peer.answer("200 OK", [], "found")
                } else if request.head.contains(" /loop") {
                    peer.answer("302 Found", ["Location: /loop"])
                } else {
                    peer.answer("302 Found", ["Location: http://127.0.0.1:1/elsewhere"])
                }
            }
        }
        let transport = transport(server, FixedAuthorizer.basic(user: "me", password: "secret"))
        #expect(try await transport.send(HTTPRequest("GET", "/here")).body == Array("found".utf8))
        #expect(try await transport.send(HTTPRequest("PUT", "/here")).status == 302)
        #expect(try await transport.send(HTTPRequest("GET", "/loop")).status == 302)
        let away = try await transport.send(HTTPRequest("GET", "/away"))
        #expect(away.status == 302 && transport.error(away, "x").code == .unavailable)
    }

    @Test("A slash that a server behind a proxy wants at a path's end is added, and no other server is asked for it")
    func missingSlash() async throws {
        let other = try LoopbackServer { peer in #expect(peer.request() == nil, "credentials go to nobody else") }
        let server = try LoopbackServer { peer in
            while let request = peer.request() {
                let target = String(request.head.split(separator: " ")[1])
                if ["/d%28/", "/d%28/?x=1"].contains(target) {
                    peer.answer("200 OK", [], target)
                } else {
                    let path = target.hasPrefix("/d") ? "/d(/" : "/elsewhere/"
                    peer.answer("301 Moved", ["Location: http://127.0.0.1:\(other.port)\(path)"])
                }
            }
        }
        let transport = transport(server, FixedAuthorizer.basic(user: "me", password: "secret"))
        #expect(try await transport.send(HTTPRequest("PROPFIND", "/d%28")).body == Array("/d%28/".utf8))
        #expect(try await transport.send(HTTPRequest("GET", "/d%28", query: "x=1")).body == Array("/d%28/?x=1".utf8))
        #expect(try await transport.send(HTTPRequest("MKCOL", "/d%28")).status == 301)
        for path in ["/else", "/elsewher", "/d%28x", "/elsewhere/"] {
            #expect(try await transport.send(HTTPRequest("GET", path)).status == 301)
        }
    }

    @Test("A server that asks for a pause gets one; a long one is told instead")
    func retryAfter() async throws {
        let server = try LoopbackServer(steps: [
            { peer, _ in peer.answer("503 Slow Down", ["Retry-After: 1"]) }, { peer, _ in peer.answer("200 OK") },
            { peer, _ in peer.answer("429 Too Many", ["Retry-After: 600"]) }, { peer, _ in peer.answer("200 OK") },
        ])
        let transport = transport(server)
        let busy = try await transport.send(HTTPRequest("GET", "/"))
        let error = transport.error(busy, "a.txt cannot be read")
        #expect(error.code == .unavailable && error.message.contains("wait 1 s"))
        let began = ContinuousClock.now
        #expect(try await transport.send(HTTPRequest("GET", "/")).status == 200)
        #expect(ContinuousClock.now - began > .milliseconds(800))
        _ = try await transport.send(HTTPRequest("GET", "/"))
        let refused = try #require(await get(transport).failure)
        #expect(refused.code == .unavailable && refused.message.contains("asked not to be asked"))
    }

    @Test("Until when a server asks for a pause goes by its own clock", arguments: [-3600, 3600])
    func retryAfterDate(shift: Int) async throws {
        let now = time(nil) + shift
        let fields = [("Date", now), ("Retry-After", now + 1)].map { name, seconds in
            "\(name): \(HTTPDate.format(FileTime(seconds: seconds, nanoseconds: 0)))"
        }
        let server = try LoopbackServer(steps: [
            { peer, _ in peer.answer("503 Slow Down", fields) }, { peer, _ in peer.answer("200 OK") },
        ])
        let transport = transport(server)
        _ = try await transport.send(HTTPRequest("GET", "/"))
        let began = ContinuousClock.now
        #expect(try await transport.send(HTTPRequest("GET", "/")).status == 200)
        #expect(ContinuousClock.now - began > .milliseconds(800))
    }
}

extension Result {
    /// What went wrong, nil where nothing did.
    var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
