import QuireCore
import QuireTransport

/// Answers methods in this process, by the same table as the daemon's and the same messages.
struct LocalCaller: DriveCaller {
    let methods: MethodTable

    func call<Method: WireMethod>(
        _ method: Method.Type, _ parameters: Method.Parameters, onPartial: (@Sendable (Method.Partial) -> Void)?
    ) async throws(QuireError) -> Method.Result {
        let context = CallContext(client: ClientSession(pid: 0)) { value in
            if let part = value as? Method.Partial { onPartial?(part) }
        }
        let result: MethodTable.Value
        do {
            let line = try WireCodec.line(RPCRequest(id: .number(1), method: Method.name, params: parameters))
            let request = RPCIncoming(id: .number(1), method: Method.name, line: line)
            result = try await methods.answer(request, context)
        } catch let error as RPCError {
            if error.code == RPCError.methodNotFound { throw Self.needsDaemon(Method.name) }
            throw error.quireError
        } catch {
            throw QuireError(.failed, "\(Method.name): \(error)")
        }
        guard let result = result as? Method.Result else {
            throw QuireError(.failed, "\(Method.name): an answer of another kind")
        }
        return result
    }

    private static func needsDaemon(_ method: String) -> QuireError {
        QuireError(
            .unavailable, "no daemon serves the drive, and \(method) needs one", remedy: "Start it with `quire mount`")
    }
}
