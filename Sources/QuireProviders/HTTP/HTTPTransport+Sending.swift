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
            let deadline = request.timeLimit.map { NIODeadline.now() + TimeAmount($0) }
            let answer =
                switch try await outgoing(request, failure) {
                case .whole(let body):
                    try await ask(request, body, deadline, bandwidth, look, each)
                case .stream(let body):
                    try await upload(request, body, deadline, look, each)
                }
            if Task.isCancelled { throw HTTPFailure.cancelled }
            return answer
        } catch {
            throw failure.error ?? HTTPFailure.error(error, origin)
        }
    }

    /// Sends a request that is there as a whole.
    private func ask(
        _ request: HTTPRequest, _ body: ByteBuffer?, _ deadline: NIODeadline?, _ bandwidth: Bandwidth?,
        _ look: (HTTPAnswer) throws(ProviderError) -> Void, _ each: (BodyPiece) async throws(ProviderError) -> Void
    ) async throws -> HTTPAnswer {
        let sent = try HTTPClient.Request(
            url: "\(origin)\(request.target)", method: HTTPMethod(rawValue: request.method),
            headers: Self.headers(request), body: body.map { .byteBuffer($0) })
        var exchange = HTTPExchange(sent, on: client, deadline)
        var portion: AnswerGatherer.Portion
        do {
            portion = try await exchange.take(most: Self.piece(bandwidth))
        } catch  where request.isSafe && !exchange.hasAnswer && HTTPFailure.isClosed(error) && !Task.isCancelled {
            exchange = HTTPExchange(sent, on: client, deadline)
            portion = try await exchange.take(most: Self.piece(bandwidth))
        }
        var answer = portion.answer
        guard answer.isSuccess else {
            answer.body = portion.piece.bytes
            return answer
        }
        try look(answer)
        while portion.piece.count > 0 {
            // What is not taken from the connection, the server does not send.
            try await bandwidth?.pass(portion.piece.count)
            try await each(portion.piece)
            if portion.isLast { break }
            portion = try await exchange.take(most: Self.piece(bandwidth))
        }
        return answer
    }

    /// Sends what is not there as a whole, and gets an answer that is.
    ///
    /// The client's other interface takes no answer before all is sent, which a server that refuses does not wait for.
    private func upload(
        _ request: HTTPRequest, _ body: HTTPClientRequest.Body, _ deadline: NIODeadline?,
        _ look: (HTTPAnswer) throws(ProviderError) -> Void, _ each: (BodyPiece) async throws(ProviderError) -> Void
    ) async throws -> HTTPAnswer {
        var sent = HTTPClientRequest(url: "\(origin)\(request.target)")
        sent.method = HTTPMethod(rawValue: request.method)
        sent.headers = Self.headers(request)
        sent.body = body
        let response = try await client.execute(sent, deadline: deadline ?? .distantFuture)
        var answer = HTTPAnswer(status: Int(response.status.code), fields: HTTPFields(response.headers))
        if answer.isSuccess { try look(answer) }
        var piece = BodyPiece()
        for try await part in response.body {
            piece.append(part)
            if let deadline, NIODeadline.now() > deadline { throw HTTPClientError.deadlineExceeded }
            guard piece.count >= ServerWords.limit else { continue }
            if !answer.isSuccess { break }
            try await each(piece)
            piece = BodyPiece()
        }
        if !answer.isSuccess { answer.body = piece.bytes } else if piece.count > 0 { try await each(piece) }
        return answer
    }

    private static func headers(_ request: HTTPRequest) -> HTTPHeaders {
        HTTPHeaders(request.fields.list.map { ($0.name, $0.value) })
    }

    /// Bytes of an answer that are handed on at a time.
    private static func piece(_ bandwidth: Bandwidth?) -> Int { bandwidth?.piece(1 << 20) ?? 1 << 20 }

    private enum Outgoing {
        case whole(ByteBuffer?)
        case stream(HTTPClientRequest.Body)
    }

    /// What is sent after the head.
    private func outgoing(_ request: HTTPRequest, _ failure: FileBody.Shortfall) async throws -> Outgoing {
        switch request.body {
        case .none: return .whole(nil)
        case .bytes(let bytes):
            try await traffic.up.pass(bytes.count)
            return .whole(ByteBuffer(bytes: bytes))
        case .file(let path, let offset, let length, let checksum):
            return try await outgoing(path, offset, length, checksum.map { .checksum($0) } ?? .any, failure)
        case .live(let document):
            return try await outgoing(document.path, 0, document.size.bytes, .seal(document.seal), failure)
        case .pieces(let length, let next):
            return .stream(
                .stream(
                    AsyncStream { [up = traffic.up] in
                        guard let piece = await next() else { return nil }
                        // Cancelled, the request ends by itself.
                        try? await up.pass(piece.count)
                        return ByteBuffer(bytes: piece)
                    }, length: .known(length)))
        }
    }

    private func outgoing(
        _ path: String, _ offset: Int64, _ length: Int64, _ end: FileBody.End, _ failure: FileBody.Shortfall
    ) async throws -> Outgoing {
        guard length > 0 else {
            try await end.check(.sha256(of: []), path)
            return .whole(ByteBuffer())
        }
        let body = FileBody(
            path: path, offset: offset, length: length, end: end, pool: pool, bandwidth: traffic.up, failure: failure)
        if let whole = try await body.whole() { return .whole(whole) }
        return .stream(.stream(body, length: .known(length)))
    }
}
