import QuireCore
import QuireTransport

/// Whoever answers the methods of the control socket: the daemon, or this process when none runs.
protocol DriveCaller: Sendable {
    func call<Method: WireMethod>(
        _ method: Method.Type, _ parameters: Method.Parameters, onPartial: (@Sendable (Method.Partial) -> Void)?
    ) async throws(QuireError) -> Method.Result
}

extension DriveConnection: DriveCaller {}

extension DriveCaller {
    func call<Method: WireMethod>(
        _ method: Method.Type, _ parameters: Method.Parameters
    ) async throws(QuireError) -> Method.Result {
        try await call(method, parameters, onPartial: nil)
    }

    func call<Method: WireMethod>(_ method: Method.Type) async throws(QuireError) -> Method.Result
    where Method.Parameters == WireNothing {
        try await call(method, WireNothing(), onPartial: nil)
    }
}
