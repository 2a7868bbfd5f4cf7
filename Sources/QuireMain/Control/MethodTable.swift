import QuireCore
import QuireTransport

/// The methods that can be asked for, by name.
struct MethodTable: Sendable {
    typealias Value = any Codable & Sendable
    typealias Handler = @Sendable (RPCIncoming, CallContext) async throws -> Value

    /// Answers where it can do so without waiting; nil: the handler does it.
    typealias QuickHandler = @Sendable (RPCIncoming, ClientSession) throws -> Value?

    private var handlers: [String: Handler] = [:]
    private var quickHandlers: [String: QuickHandler] = [:]
    private var lanes: [String: RequestLane] = [:]

    /// The names, in alphabetical order.
    var names: [String] { Set(handlers.keys).union(quickHandlers.keys).sorted() }

    /// Answers `method` with what `body` returns; the error it throws goes to the caller.
    ///
    /// - Parameter lane: how its requests are counted.
    mutating func on<Method: WireMethod>(
        _ method: Method.Type, lane: RequestLane = .work,
        _ body: @escaping @Sendable (Method.Parameters, CallContext) async throws -> Method.Result
    ) {
        lanes[Method.name] = lane
        handlers[Method.name] = { request, context in
            try await body(try request.parameters(Method.Parameters.self), context)
        }
    }

    /// Answers `method` on the socket's thread, which spares two changes of threads, where `body` does not return nil.
    ///
    /// - Parameter body: does not wait for anything. Where it may return nil, there is a body for `on`, too.
    mutating func onAtOnce<Method: WireMethod>(
        _ method: Method.Type, _ body: @escaping @Sendable (Method.Parameters, ClientSession) throws -> Method.Result?
    ) {
        quickHandlers[Method.name] = { request, client in
            try body(try request.parameters(Method.Parameters.self), client)
        }
    }

    /// How a request is counted.
    func lane(of request: RPCIncoming) -> RequestLane { lanes[request.method] ?? .work }

    /// Runs the method of `request` where that needs no waiting. Nil where it does: then nothing has been done.
    func answerAtOnce(_ request: RPCIncoming, _ client: ClientSession) -> Result<Value, RPCError>? {
        guard let handler = quickHandlers[request.method] else { return nil }
        do {
            return try handler(request, client).map { .success($0) }
        } catch {
            return .failure(Self.error(error, of: request))
        }
    }

    /// Runs the method of `request`.
    func answer(_ request: RPCIncoming, _ context: CallContext) async throws(RPCError) -> Value {
        do {
            if let handler = handlers[request.method] { return try await handler(request, context) }
            if let handler = quickHandlers[request.method], let value = try handler(request, context.client) {
                return value
            }
        } catch {
            throw Self.error(error, of: request)
        }
        throw RPCError(code: RPCError.methodNotFound, message: "there is no method \(request.method)")
    }

    private static func error(_ error: any Error, of request: RPCIncoming) -> RPCError {
        switch error {
        case let error as RPCError: error
        case let error as QuireError: RPCError(error)
        case is CancellationError: RPCError(code: RPCError.cancelled, message: "cancelled")
        default: RPCError(code: RPCError.internalError, message: "\(request.method): \(error)")
        }
    }
}

/// What a method's body knows of its caller.
struct CallContext: Sendable {
    let client: ClientSession
    /// Sends one part of a long answer; waits while the caller does not read.
    let sendPartial: @Sendable (MethodTable.Value) async -> Void

    /// Sends `items` in parts of a bounded size.
    func sendParts<Item: Codable & Sendable>(_ items: some Sequence<Item>, size: (Item) -> Int) async {
        let part = await sendAllButLast(items, size: size)
        if !part.isEmpty { await sendPartial(part) }
    }

    /// The same, but for what is left for the answer.
    func sendAllButLast<Item: Codable & Sendable>(_ items: some Sequence<Item>, size: (Item) -> Int) async -> [Item] {
        var part: [Item] = []
        var bytes = 0
        for item in items {
            part.append(item)
            bytes += size(item)
            guard bytes >= WireLimits.partialBytes else { continue }
            await sendPartial(part)
            part = []
            bytes = 0
        }
        return part
    }

    /// Sends versions of a document, in parts where they may be too long for one message, and returns the answer: clients that
    /// know of no parts get all that they ever did.
    func answer(_ versions: [VersionMethods.Version]) async -> VersionMethods.Versions.Result {
        let size = { (version: VersionMethods.Version) in
            version.name.utf8.count + (version.file?.utf8.count ?? 0) + (version.copy?.path.bytes.count ?? 0) + 100
        }
        guard versions.reduce(0, { $0 + size($1) }) > WireLimits.messageBytes / 2 else {
            return .init(versions: versions)
        }
        return .init(versions: await sendAllButLast(versions, size: size))
    }
}
