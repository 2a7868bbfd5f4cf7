import AsyncHTTPClient
import NIOCore

/// One request under way, which ends when it is let go of.
final class HTTPExchange: Sendable {
    private let gatherer: AnswerGatherer

    /// Sends the request.
    init(_ request: HTTPClient.Request, on client: HTTPClient, _ deadline: NIODeadline?) {
        gatherer = AnswerGatherer(request, on: client, deadline: deadline)
    }

    /// Whether the head of its answer came.
    var hasAnswer: Bool { gatherer.hasAnswer }

    /// As `AnswerGatherer.take`; ends at once where the calling task is cancelled.
    func take(most: Int) async throws -> AnswerGatherer.Portion {
        try await withTaskCancellationHandler {
            try await gatherer.take(most: most)
        } onCancel: {
            gatherer.end(CancellationError())
        }
    }

    deinit { gatherer.end(CancellationError()) }
}
