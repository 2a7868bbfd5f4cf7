import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import QuireCore
import Synchronization

/// Gathers the answer to one request on its event loop, for one task that takes it piece by piece.
///
///     loop  ── head ── part ── part ── end
///     task  ─────────── waits ──────────▶ woken once, for all of a small answer
///
/// What is gathered and not taken holds the connection up: the server sends no more then.
final class AnswerGatherer: HTTPClientResponseDelegate {
    private struct State {
        var answer: HTTPAnswer?
        var piece = BodyPiece()
        var isOver = false
        var failure: (any Error)?
        /// Bytes of a body that are a full portion; nothing is held up before anybody says.
        var most = Int.max
        /// Since when the task waits.
        var begun = ContinuousClock.now
        var taker: CheckedContinuation<AnswerPortion, any Error>?
        /// Kept while a full portion is there: the connection waits for it.
        var room: EventLoopPromise<Void>?
        /// Until all came.
        var lease: EventLoopLease?
        var request: HTTPClient.Task<Void>?

        var isFull: Bool { answer.map { AnswerPortion.isFull(piece.count, of: $0, most: most) } ?? false }

        /// Whether the task is to have what is there.
        var isDue: Bool {
            if isOver || failure != nil { return true }
            return answer.map { AnswerPortion.isDue(piece.count, of: $0, most: most, since: begun) } ?? false
        }
    }

    /// Who goes on, to be told outside of the lock.
    private struct Wake {
        let taker: CheckedContinuation<AnswerPortion, any Error>
        let result: Result<AnswerPortion, any Error>
        let room: EventLoopPromise<Void>?

        func callAsFunction() {
            room?.succeed()
            taker.resume(with: result)
        }
    }

    // Taken alone.
    private let state: Lock<State>

    /// Sends the request.
    init(_ request: HTTPClient.Request, on client: HTTPClient, deadline: NIODeadline?) {
        let lease = EventLoopLease()
        state = Lock(State(lease: lease))
        // Begun elsewhere, the loop would be woken for each step.
        lease.loop.execute { [self] in send(request, client, lease.loop, deadline) }
    }

    private func send(
        _ request: HTTPClient.Request, _ client: HTTPClient, _ loop: any EventLoop, _ deadline: NIODeadline?
    ) {
        if state.withLock({ $0.failure != nil }) { return }
        let task = client.execute(request: request, delegate: self, eventLoop: .delegate(on: loop), deadline: deadline)
        let isWanted = state.withLock { state in
            if state.failure == nil, !state.isOver { state.request = task }
            return state.failure == nil
        }
        guard isWanted else { return task.fail(reason: CancellationError()) }
        task.futureResult.whenFailure { [self] in end($0) }
    }

    /// Waits for the head and a portion of the body.
    ///
    /// - Parameter most: bytes that are a full portion. It has more where more came at once.
    /// - Throws: what the request failed with, once all that had come is taken; `CancellationError`. Not to be called again
    ///   after that, nor after the last portion.
    func take(most: Int) async throws -> AnswerPortion {
        try await withCheckedThrowingContinuation { taker in
            change { state in
                state.most = most
                state.begun = ContinuousClock.now
                state.taker = taker
            }
        }
    }

    /// Whether the head is there.
    var hasAnswer: Bool { state.withLock { $0.answer != nil } }

    /// The request failed, or nobody takes its answer any longer.
    func end(_ error: any Error) {
        let (request, room) = state.withLock { state -> (HTTPClient.Task<Void>?, EventLoopPromise<Void>?) in
            guard !state.isOver, state.failure == nil else { return (nil, nil) }
            state.failure = error
            state.lease = nil
            return (state.request.take(), state.room.take())
        }
        request?.fail(reason: error)
        room?.fail(error)
        change { _ in }
    }

    func didReceiveHead(task: HTTPClient.Task<Void>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        let answer = HTTPAnswer(status: Int(head.status.code), fields: HTTPFields(head.headers))
        change { $0.answer = answer }
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didReceiveBodyPart(task: HTTPClient.Task<Void>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
        let room = change { state in
            state.piece.append(buffer)
        } rest: { state -> EventLoopPromise<Void>? in
            guard state.isFull, state.failure == nil else { return nil }
            state.room = task.eventLoop.makePromise()
            return state.room
        }
        return room?.futureResult ?? task.eventLoop.makeSucceededVoidFuture()
    }

    func didFinishRequest(task: HTTPClient.Task<Void>) {
        change { state in
            state.isOver = true
            state.lease = nil
            state.request = nil
        }
    }

    /// Changes the state and hands over what is due then.
    ///
    /// - Parameter rest: looks at what is left.
    private func change<Value>(
        _ body: (inout State) -> Void, rest: (inout State) -> Value = { (_) -> Void in }
    ) -> Value {
        let (wake, value) = state.withLock { state in
            body(&state)
            return (state.taker != nil && state.isDue ? Self.handOver(&state) : nil, rest(&state))
        }
        wake?()
        return value
    }

    private static func handOver(_ state: inout State) -> Wake? {
        guard let taker = state.taker.take() else { return nil }
        let room = state.room.take()
        if let failure = state.failure, state.piece.count == 0 || failure is CancellationError {
            return Wake(taker: taker, result: .failure(failure), room: room)
        }
        guard let answer = state.answer else {
            return Wake(taker: taker, result: .failure(HTTPClientError.remoteConnectionClosed), room: room)
        }
        let portion = AnswerPortion(answer: answer, piece: state.piece, isLast: state.isOver)
        state.piece = BodyPiece()
        return Wake(taker: taker, result: .success(portion), room: room)
    }
}
