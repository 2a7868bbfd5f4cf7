import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import QuireCore

/// One request and its answer, by the HTTP client.
extension HTTPTransport {
    /// Sends it once; a safe one again where the kept connection had gone.
    func attempt(
        _ request: HTTPRequest, _ bandwidth: Bandwidth?, _ look: (HTTPAnswer) throws(ProviderError) -> Void,
        _ each: (BodyPiece) async throws(ProviderError) -> Void
    ) async throws(ProviderError) -> HTTPAnswer {
        let failure = FileBody.Shortfall()
        do {
            let body = try await body(request, failure)
            let deadline = request.timeLimit.map { NIODeadline.now() + TimeAmount($0) }
            var (exchange, portion) = try await begin(request, body, deadline, bandwidth)
            var answer = portion.answer
            if answer.isSuccess { try look(answer) }
            var unpaid = request.isControl ? Bandwidth.smallestPiece : 0
            while answer.isSuccess, portion.piece.count > 0 {
                // What is not taken from the connection, the server does not send.
                for piece in portion.piece.parts(of: bandwidth?.piece(portion.piece.count) ?? portion.piece.count) {
                    try await each(piece)
                    unpaid -= piece.count
                    if unpaid >= 0 { bandwidth?.note(piece.count) } else { try await bandwidth?.pass(piece.count) }
                }
                if portion.isLast { break }
                portion = try await exchange.take(most: Self.portion(bandwidth))
            }
            if Task.isCancelled { throw HTTPFailure.cancelled }
            if !answer.isSuccess { answer.body = portion.piece.bytes }
            return answer
        } catch {
            throw failure.error ?? HTTPFailure.error(error, origin)
        }
    }

    private func begin(
        _ request: HTTPRequest, _ body: HTTPClientRequest.Body?, _ deadline: NIODeadline?, _ bandwidth: Bandwidth?
    ) async throws -> (any HTTPExchange, AnswerPortion) {
        let most = Self.portion(bandwidth)
        var exchange = try exchange(request, body, deadline)
        let portion: AnswerPortion
        do {
            portion = try await exchange.take(most: most)
        } catch  where request.isSafe && !exchange.hasAnswer && HTTPFailure.isClosed(error) && !Task.isCancelled {
            exchange = try self.exchange(request, body, deadline)
            portion = try await exchange.take(most: most)
        }
        return (exchange, portion)
    }

    private func exchange(
        _ request: HTTPRequest, _ body: HTTPClientRequest.Body?, _ deadline: NIODeadline?
    ) throws -> any HTTPExchange {
        let (url, method) = ("\(origin)\(request.target)", HTTPMethod(rawValue: request.method))
        var headers = HTTPHeaders(request.fields.list.map { ($0.name, $0.value) })
        if request.workTime > .zero {
            headers.add(name: SilenceWatch.field, value: "\(Int(request.workTime / .milliseconds(1)))")
        }
        guard let body else {
            return GatheredExchange(
                try HTTPClient.Request(url: url, method: method, headers: headers), on: client, deadline)
        }
        var sent = HTTPClientRequest(url: url)
        (sent.method, sent.headers, sent.body) = (method, headers, body)
        return StreamedExchange(sent, on: client, deadline)
    }

    /// Bytes of an answer that are handed on at a time.
    private static func portion(_ bandwidth: Bandwidth?) -> Int { bandwidth?.piece(1 << 20) ?? 1 << 20 }

    /// What is sent after the head.
    private func body(
        _ request: HTTPRequest, _ failure: FileBody.Shortfall
    ) async throws -> HTTPClientRequest.Body? {
        switch request.body {
        case .none: return nil
        case .bytes(let bytes):
            let (buffer, up) = (ByteBuffer(bytes: bytes), traffic.up)
            // Sent as a whole also where it has to be sent again.
            if request.isSafe || (request.isControl && bytes.count <= Bandwidth.smallestPiece) {
                up.note(bytes.count)
                return .bytes(buffer)
            }
            guard bytes.count <= up.piece(bytes.count) else {
                return .stream(BytesBody(bytes: buffer, bandwidth: up), length: .known(Int64(bytes.count)))
            }
            try await up.pass(bytes.count)
            return .bytes(buffer)
        case .file(let path, let offset, let length, let checksum):
            return try await body(path, offset, length, checksum.map { .checksum($0) } ?? .any, failure)
        case .live(let document):
            return try await body(document.path, 0, document.size.bytes, .seal(document.seal), failure)
        case .pieces(let length, let next):
            return .stream(
                AsyncStream { [up = traffic.up] in
                    guard let piece = await next() else { return nil }
                    // Cancelled, the request ends by itself.
                    try? await up.pass(piece.count)
                    return ByteBuffer(bytes: piece)
                }, length: .known(length))
        }
    }

    private func body(
        _ path: String, _ offset: Int64, _ length: Int64, _ end: FileBody.End, _ failure: FileBody.Shortfall
    ) async throws -> HTTPClientRequest.Body {
        guard length > 0 else {
            try await end.check(.sha256(of: []), path)
            return .bytes(ByteBuffer())
        }
        let body = FileBody(
            path: path, offset: offset, length: length, end: end, pool: pool, bandwidth: traffic.up, failure: failure)
        if let whole = try await body.whole() { return .bytes(whole) }
        return .stream(body, length: .known(length))
    }
}
