import QuireTransport
import QuireCore

/// The methods that can be asked for, by name.
struct MethodTable: Sendable {
    typealias Value = any Codable & Sendable
    typealias Handler = @Sendable (RPCIncoming, CallContext) async throws -> Value

    private var handlers: [String: Handler] = [:]

    /// The names, in alphabetical order.
    var names: [String] { handlers.keys.sorted() }

    /// Answers `method` with what `body` returns; the error it throws goes to the caller.
    mutating func on<Method: WireMethod>(
        _ method: Method.Type,
        _ body: @escaping @Sendable (Method.Parameters, CallContext) async throws -> Method.Result
    ) {
        handlers[Method.name] = { request, context in
            try await body(try request.parameters(Method.Parameters.self), context)
        }
    }

    /// Runs the method of `request`.
    func answer(_ request: RPCIncoming, _ context: CallContext) async throws(RPCError) -> Value {
        guard let handler = handlers[request.method] else {
            throw RPCError(code: RPCError.methodNotFound, message: "there is no method \(request.method)")
        }
        do {
            return try await handler(request, context)
        } catch let error as RPCError {
            throw error
        } catch let error as QuireError {
            throw RPCError(error)
        } catch is CancellationError {
            throw RPCError(code: RPCError.cancelled, message: "cancelled")
        } catch {
            throw RPCError(code: RPCError.internalError, message: "\(request.method): \(error)")
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
        if !part.isEmpty { await sendPartial(part) }
    }
}
