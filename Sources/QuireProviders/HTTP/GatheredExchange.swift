import AsyncHTTPClient
import NIOCore

/// A request without a body, its answer gathered on its event loop. The client keeps the gatherer; this is who wants the answer.
final class GatheredExchange: HTTPExchange, Sendable {
    private let gatherer: AnswerGatherer

    /// Sends the request.
    init(_ request: HTTPClient.Request, on client: HTTPClient, _ deadline: NIODeadline?) {
        gatherer = AnswerGatherer(request, on: client, deadline: deadline)
    }

    var hasAnswer: Bool { gatherer.hasAnswer }

    func take(most: Int) async throws -> AnswerPortion {
        try await withTaskCancellationHandler {
            try await gatherer.take(most: most)
        } onCancel: {
            gatherer.end(CancellationError())
        }
    }

    deinit { gatherer.end(CancellationError()) }
}
