import AsyncHTTPClient
import NIOCore
import NIOHTTP1

/// A request with a body, by the client's asynchronous interface.
///
/// By the other one a server is not heard that refuses what it has not read, and one that answers and hangs up before the
/// client has noted that all is sent, which takes a change of thread there, seems to have given no answer.
struct StreamedExchange: HTTPExchange {
    private let request: HTTPClientRequest
    private let client: HTTPClient
    private let deadline: NIODeadline?
    private let lease = EventLoopLease()
    private var head: HTTPAnswer?
    private var parts: HTTPClientResponse.Body.AsyncIterator?

    /// Sent with the first `take`.
    init(_ request: HTTPClientRequest, on client: HTTPClient, _ deadline: NIODeadline?) {
        self.request = request
        self.client = client
        self.deadline = deadline
    }

    var hasAnswer: Bool { head != nil }

    mutating func take(most: Int) async throws -> AnswerPortion {
        // A small answer is there as a whole when this thread hears of it: to go from thread to thread with each part of
        // it would take several times as long as it does to come.
        var exchange = self
        defer { self = exchange }
        return try await withTaskExecutorPreference(lease.executor) { try await exchange.gather(most) }
    }

    private mutating func gather(_ most: Int) async throws -> AnswerPortion {
        let begun = ContinuousClock.now
        let answer = try await answer()
        var piece = BodyPiece()
        while let part = try await parts?.next() {
            piece.append(part)
            if let deadline, NIODeadline.now() > deadline { throw HTTPClientError.deadlineExceeded }
            if AnswerPortion.isDue(piece.count, of: answer, most: most, since: begun) {
                return AnswerPortion(answer: answer, piece: piece, isLast: false)
            }
        }
        return AnswerPortion(answer: answer, piece: piece, isLast: true)
    }

    private mutating func answer() async throws -> HTTPAnswer {
        if let head { return head }
        let response = try await client.execute(request, deadline: deadline ?? .distantFuture)
        let answer = HTTPAnswer(status: Int(response.status.code), fields: HTTPFields(response.headers))
        parts = response.body.makeAsyncIterator()
        head = answer
        return answer
    }
}
