import QuireCore
import Synchronization

/// How a MOVE says where to, as the probe found that a server takes it.
///
/// A server behind a proxy that ends TLS may think that it is asked over plain HTTP, and refuse a Destination on `https://` as
/// another server's. The path alone (RFC 4918 §10.3) says the same, and names no server.
final class DAVDestination: Sendable {
    enum Form: Sendable {
        case url
        case path

        var other: Form { self == .url ? .path : .url }
    }

    private struct State {
        var form = Form.url
        var isRefused = false
    }

    /// Innermost lock.
    private let state = Lock(State())

    var form: Form { state.withLock { $0.form } }

    /// A MOVE was done that said it so.
    func found(_ form: Form) { state.withLock { $0 = State(form: form) } }

    /// A MOVE was refused in either form.
    func foundNone() { state.withLock { $0.isRefused = true } }

    /// Whether an answer may be about the Destination: Apache says 502, others 400.
    static func mayRefuse(_ answer: HTTPAnswer) -> Bool { [400, 502].contains(answer.status) }

    /// A refusal by a server that was found to take neither form; nil for other answers.
    func refusal(_ answer: HTTPAnswer, _ item: RelativePath, at address: DAVAddress) -> ProviderError? {
        guard Self.mayRefuse(answer), state.withLock({ $0.isRefused }) else { return nil }
        return ProviderError(
            answer.status == 502 ? .unavailable : .failed,
            "\(item) cannot be moved: the server seems not to know that it is \(address.origin); have the proxy before it pass "
                + "on Host and scheme, or rewrite Destination",
            cause: "the server says \(answer.status) to a MOVE, whether it names the server or the path alone")
    }
}
