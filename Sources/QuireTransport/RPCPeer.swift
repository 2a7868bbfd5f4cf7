package import QuireCore
import Synchronization

/// One end of a JSON-RPC connection; both ends are alike: each may call the other.
package final class RPCPeer: MessageHandler {
    private struct Call {
        /// Called once, on any thread, with no lock held.
        let complete: @Sendable (Swift.Result<[UInt8], any Error>) -> Void
        let onPartial: (@Sendable ([UInt8]) -> Void)?
    }

    private struct State {
        var channel: MessageChannel?
        var nextID: Int64 = 1
        var calls: [Int64: Call] = [:]
        /// Requests of the other side that are not answered, begun or not.
        var answering: [RPCIdentifier: CancelSignal] = [:]
        var admission: RequestAdmission
        /// Whether the other side asks nothing more.
        var inputEnded = false
        var closing: QuireError?
    }

    // Taken before the channel's own; continuations are resumed outside.
    private let state: Lock<State>
    /// Takes the requests of the other side; nil refuses them all.
    private let takeRequest: (@Sendable (RPCIncoming, RPCPeer) -> Void)?
    /// Whether a thread that asks reads the socket itself while it can be quick.
    private let readsForItself: Bool
    private let incoming: AsyncStream<RPCIncoming>.Continuation?
    /// Requests of the other side that were not answered at once, in order, no more at one time than there may be; ends when it
    /// writes no more and none waits. For one consumer.
    package let requests: AsyncStream<RPCIncoming>
    /// Called once when the connection is gone.
    private let whenClosed: @Sendable () -> Void

    /// - Parameters:
    ///   - answersRequests: false refuses whatever the other side asks; then a thread that asks reads for itself for a moment.
    ///   - requestLimit: so much work is begun at one time; the rest waits, but all is read.
    ///   - waitingLimit: most requests that wait; more are refused.
    ///   - lane: how a request that is not answered at once is counted.
    ///   - atOnce: gets each request first, on the thread that reads, and returns true where it has answered; must return soon.
    package init(
        answersRequests: Bool, requestLimit: Int = WireLimits.requestsPerClient,
        waitingLimit: Int = WireLimits.waitingRequests,
        lane: @escaping @Sendable (RPCIncoming) -> RequestLane = { _ in .work },
        atOnce: @escaping @Sendable (RPCIncoming, RPCPeer) -> Bool = { _, _ in false },
        whenClosed: @escaping @Sendable () -> Void = {}
    ) {
        let (stream, continuation) = AsyncStream.makeStream(of: RPCIncoming.self)
        self.requests = stream
        self.incoming = answersRequests ? continuation : nil
        let take: @Sendable (RPCIncoming, RPCPeer) -> Void = { request, peer in
            if !atOnce(request, peer) { peer.admit(request, lane(request)) }
        }
        self.takeRequest = answersRequests ? take : nil
        self.state = Lock(
            State(admission: RequestAdmission(workLimit: requestLimit, waitingLimit: waitingLimit)))
        self.readsForItself = !answersRequests
        self.whenClosed = whenClosed
        if !answersRequests { continuation.finish() }
    }

    /// A peer whose requests are taken at once, however many are not answered yet: where an answer may have to wait for an
    /// answer of the other side, reading must go on.
    ///
    /// - Parameter takeRequest: called on the thread that reads, in order; must return soon. Also gets this peer, to answer by.
    package init(
        takeRequest: @escaping @Sendable (RPCIncoming, RPCPeer) -> Void, whenClosed: @escaping @Sendable () -> Void
    ) {
        let (stream, continuation) = AsyncStream.makeStream(of: RPCIncoming.self)
        continuation.finish()
        self.requests = stream
        self.incoming = nil
        self.takeRequest = takeRequest
        self.state = Lock(State(admission: RequestAdmission(workLimit: .max, waitingLimit: 0)))
        self.readsForItself = true
        self.whenClosed = whenClosed
    }

    /// Gives the peer its socket. Once, before anything else.
    package func attach(_ descriptor: Int32, to loop: MessageLoop) {
        // Whoever asks must be read whatever it has still to send: else both sides could wait for the other to read.
        let limit = incoming == nil ? Int.max : WireLimits.unreadBytes
        let channel = loop.attach(descriptor, handler: self, unreadLimit: limit)
        state.withLock { $0.channel = channel }
    }

    /// Ends the connection; what is queued is still written.
    package func close() { state.withLock { $0.channel }?.close() }

    // MARK: Calling

    /// Asks the other side and waits for its answer. Cancelling the task takes the request back.
    ///
    /// - Parameter onPartial: gets the parts of a long answer in order, on the thread that reads; while it runs nothing
    ///   more is read, so a slow reader slows the writer.
    /// - Throws: what the other side answered; `.unavailable` when the connection ends first.
    package func call<Method: WireMethod>(
        _ method: Method.Type, _ parameters: Method.Parameters, onPartial: (@Sendable (Method.Partial) -> Void)? = nil
    ) async throws(QuireError) -> Method.Result {
        do {
            let line = try await answer(to: Method.name, parameters, onPartial: parts(of: method, onPartial))
            return try WireCodec.decode(RPCAnswer<Method.Result>.self, from: line).result
        } catch {
            throw Self.failure(of: Method.name, error)
        }
    }

    private func parts<Method: WireMethod>(
        of method: Method.Type, _ onPartial: (@Sendable (Method.Partial) -> Void)?
    ) -> (@Sendable ([UInt8]) -> Void)? {
        guard let onPartial else { return nil }
        return { line in
            // A part that cannot be read is of a newer daemon; the answer itself decides.
            typealias Part = RPCRequest<WirePartial<Method.Partial>>
            if let part = try? WireCodec.decode(Part.self, from: line) { onPartial(part.params.value) }
        }
    }

    private func answer(
        to method: String, _ parameters: some Codable & Sendable, onPartial: (@Sendable ([UInt8]) -> Void)?
    ) async throws -> [UInt8] {
        let (id, request) = try request(method, parameters)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let call = Call(complete: { continuation.resume(with: $0) }, onPartial: onPartial)
                // Before the task goes to sleep: where the answer comes now it needs no other thread.
                let refusal = readingForItself {
                    isWaiting(for: id)
                } asking: {
                    state.withLock { enter(call, id, request, &$0, unless: Task.isCancelled) }
                }
                if let refusal { continuation.resume(throwing: refusal) }
            }
        } onCancel: {
            guard let call = state.withLock({ $0.calls.removeValue(forKey: id) }) else { return }
            notify(WireCancel.method, WireCancel(id: .number(id)))
            call.complete(.failure(Self.takenBack))
        }
    }

    /// Asks the other side without waiting: calls that one thread makes are sent in that order.
    ///
    /// - Parameters:
    ///   - onPartial: as of `call`.
    ///   - whenAnswered: called once, with the answer or the reason why there is none: on the thread that reads, or
    ///     before this returns where the connection is gone.
    /// - Returns: the request's id; nil where it was not sent.
    @discardableResult
    package func send<Method: WireMethod>(
        _ method: Method.Type, _ parameters: Method.Parameters, onPartial: (@Sendable (Method.Partial) -> Void)? = nil,
        whenAnswered: @escaping @Sendable (Swift.Result<Method.Result, QuireError>) -> Void
    ) -> RPCIdentifier? {
        let complete: @Sendable (Swift.Result<[UInt8], any Error>) -> Void = { outcome in
            do {
                let answer = try WireCodec.decode(RPCAnswer<Method.Result>.self, from: try outcome.get())
                whenAnswered(.success(answer.result))
            } catch {
                whenAnswered(.failure(Self.failure(of: Method.name, error)))
            }
        }
        do {
            let (id, request) = try request(Method.name, parameters)
            let call = Call(complete: complete, onPartial: parts(of: method, onPartial))
            guard let refusal = state.withLock({ enter(call, id, request, &$0) }) else { return .number(id) }
            complete(.failure(refusal))
        } catch {
            complete(.failure(error))
        }
        return nil
    }

    /// Asks, and reads what comes on this thread for as long as an answer at once would take.
    ///
    /// Only one of those that wait at one time reads; the others are resumed by it, or by the loop.
    func readingForItself<Value>(while isWaiting: () -> Bool, asking ask: () -> Value) -> Value {
        guard readsForItself, let channel = state.withLock({ $0.channel }) else { return ask() }
        return channel.read(after: ask) { !isWaiting() }
    }

    /// Whether a request is not answered yet.
    func isWaiting(for id: Int64) -> Bool { state.withLock { $0.calls[id] != nil } }

    /// The line of a new request.
    private func request(_ method: String, _ parameters: some Codable & Sendable) throws -> (id: Int64, line: [UInt8]) {
        let id = state.withLock { state in
            defer { state.nextID += 1 }
            return state.nextID
        }
        let line = try WireCodec.line(RPCRequest(id: .number(id), method: method, params: parameters))
        guard line.count <= WireLimits.messageBytes + 1 else {
            throw QuireError(.usage, "\(method): a request of \(line.count) bytes is longer than a message may be")
        }
        return (id, line)
    }

    /// Sends a request. The reason why not, where it cannot be sent; nobody is called then.
    private func enter(
        _ call: Call, _ id: Int64, _ line: [UInt8], _ state: inout State, unless isCancelled: Bool = false
    ) -> QuireError? {
        if let closing = state.closing { return closing }
        if isCancelled { return Self.takenBack }
        state.calls[id] = call
        state.channel?.send(line)
        return nil
    }

    private static func failure(of method: String, _ error: any Error) -> QuireError {
        error as? QuireError
            ?? QuireError(.failed, "\(method): an answer that cannot be read: \(WireCodec.explanation(error))")
    }

    private static let takenBack = QuireError(.temporary, "cancelled")

    // MARK: Answering

    /// Sends a notification.
    package func notify(_ method: String, _ parameters: some Codable & Sendable) {
        send(RPCRequest(id: nil, method: method, params: parameters))
    }

    /// Sends one part of a long answer; waits while the other side does not read.
    package func sendPartial(_ value: some Codable & Sendable, of id: RPCIdentifier) async {
        let part = WirePartial(id: id, value: value)
        notify(WirePartial<WireNothing>.method, part)
        await state.withLock { $0.channel }?.waitForRoom()
    }

    /// Answers a request. Once for each. An answer that is too long for one message becomes an error of this request: the other
    /// side would end the connection, and with it all that it holds.
    package func answer(_ id: RPCIdentifier, with result: some Codable & Sendable) {
        send(RPCAnswer(id: id, result: result)) { length in
            let words = "the answer has \(length) bytes, and a message \(WireLimits.messageBytes) at most"
            return RPCFailure(id: id, error: RPCError(QuireError(.failed, words)))
        }
        answered(id)
    }

    /// Answers a request with an error. Once for each.
    package func answer(_ id: RPCIdentifier, with error: RPCError) {
        send(RPCFailure(id: id, error: error))
        answered(id)
    }

    private func answered(_ id: RPCIdentifier) {
        state.withLock { state in
            state.answering[id] = nil
            if let next = state.admission.ended(id) { incoming?.yield(next) }
            finishIfOver(state)
        }
    }

    /// - Parameter tooLong: what is sent in place of more than a message may be, by its length in bytes.
    private func send(_ message: some Encodable, orElse tooLong: ((Int) -> RPCFailure)? = nil) {
        let channel = state.withLock { $0.channel }
        do {
            var line = try WireCodec.line(message)
            if let tooLong, line.count > WireLimits.messageBytes + 1 { line = try WireCodec.line(tooLong(line.count)) }
            channel?.send(line)
        } catch {
            // Only a value JSON has no form for (an infinite number) gets here; the other side must not wait for it.
            channel?.close(flushing: false)
        }
    }

    // MARK: MessageHandler

    package func received(_ line: [UInt8], on channel: MessageChannel) {
        state.withLock { if $0.channel == nil { $0.channel = channel } }
        let header: RPCHeader
        do {
            header = try RPCHeader(message: line) ?? WireCodec.decode(RPCHeader.self, from: line)
        } catch {
            return reject(channel, RPCError.parseError, "not a JSON-RPC message: \(WireCodec.explanation(error))")
        }
        guard header.jsonrpc == "2.0" else {
            return reject(channel, RPCError.invalidRequest, "the member \"jsonrpc\" is not \"2.0\"")
        }
        switch (header.method, header.id) {
        case (WirePartial<WireNothing>.method?, _): receivedPartial(line)
        case (WireCancel.method?, _): receivedCancel(line)
        case (let method?, let id?): receivedRequest(RPCIncoming(id: id, method: method, line: line), channel)
        case (.some, nil): break
        case (nil, .number(let id)?): receivedAnswer(id, header.error, line)
        case (nil, _):
            if let error = header.error {
                state.withLock { $0.closing = error.quireError }
            } else {
                reject(channel, RPCError.invalidRequest, "neither a request nor an answer")
            }
        }
    }

    package func overran(_ channel: MessageChannel) {
        reject(channel, RPCError.invalidRequest, "a message is longer than \(WireLimits.messageBytes) bytes")
    }

    package func inputEnded(_ channel: MessageChannel) {
        state.withLock { state in
            state.inputEnded = true
            finishIfOver(state)
        }
        if incoming == nil { channel.close() }
    }

    package func closed(_ channel: MessageChannel) {
        let (calls, answering, reason) = state.withLock { state in
            let reason = state.closing ?? QuireError(.unavailable, "the connection to the daemon ended")
            state.closing = reason
            state.admission.forgetWaiting()
            defer {
                state.calls = [:]
                state.answering = [:]
            }
            return (state.calls.values, state.answering.values, reason)
        }
        for call in calls { call.complete(.failure(reason)) }
        for signal in answering { signal.fire() }
        incoming?.finish()
        whenClosed()
    }

    private func reject(_ channel: MessageChannel, _ code: Int, _ message: String) {
        send(RPCFailure(id: nil, error: RPCError(code: code, message: message)))
        channel.close()
    }

    private func receivedRequest(_ request: RPCIncoming, _ channel: MessageChannel) {
        guard let takeRequest else {
            let error = RPCError(code: RPCError.methodNotFound, message: "this side answers no requests")
            return send(RPCFailure(id: request.id, error: error))
        }
        let isDuplicate = state.withLock { state in
            guard state.answering[request.id] == nil else { return true }
            state.answering[request.id] = request.cancelled
            return false
        }
        guard !isDuplicate else {
            return reject(channel, RPCError.invalidRequest, "the id of a request that is not answered yet")
        }
        takeRequest(request, self)
    }

    /// Begins a request, or has it wait for that.
    private func admit(_ request: RPCIncoming, _ lane: RequestLane) {
        let refusal = state.withLock { state -> QuireError? in
            switch state.admission.admit(request, lane) {
            // Inside the lock: of two requests the consumer must not hear of the later one first.
            case .begin: incoming?.yield(request)
            case .wait: break
            case .refuse(let error): return error
            }
            return nil
        }
        if let refusal { answer(request.id, with: RPCError(refusal)) }
    }

    private func finishIfOver(_ state: State) {
        if state.inputEnded, !state.admission.hasWaiting { incoming?.finish() }
    }

    private func receivedAnswer(_ id: Int64, _ error: RPCError?, _ line: [UInt8]) {
        guard let call = state.withLock({ $0.calls.removeValue(forKey: id) }) else { return }
        if let error {
            call.complete(.failure(error.quireError))
        } else {
            call.complete(.success(line))
        }
    }

    private func receivedPartial(_ line: [UInt8]) {
        guard let part = try? WireCodec.decode(RPCRequest<PartialHeader>.self, from: line),
            case .number(let id) = part.params.id
        else { return }
        state.withLock { $0.calls[id]?.onPartial }?(line)
    }

    private func receivedCancel(_ line: [UInt8]) {
        guard let cancel = try? WireCodec.decode(RPCRequest<WireCancel>.self, from: line) else { return }
        let id = cancel.params.id
        let (signal, hasWaited) = state.withLock { ($0.answering[id], $0.admission.takeBack(id)) }
        signal?.fire()
        if hasWaited { answer(id, with: RPCError(code: RPCError.cancelled, message: "cancelled")) }
    }

    private struct PartialHeader: Codable, Sendable, JSONReadable {
        var id: RPCIdentifier

        init(from scanner: inout JSONScanner) throws(JSONScanner.Refusal) {
            var id: RPCIdentifier?
            try scanner.object { name, scanner throws(JSONScanner.Refusal) in
                if name == "id" { id = try RPCIdentifier(from: &scanner) } else { try scanner.skip() }
            }
            guard let id else { throw JSONScanner.Refusal() }
            self.id = id
        }
    }
}
