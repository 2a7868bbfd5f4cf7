package import QuireCore

/// A request that the other side made.
package struct RPCIncoming: Sendable {
    package let id: RPCIdentifier
    package let method: String
    /// The whole message.
    package let line: [UInt8]
    /// Fires when the other side takes the request back or is gone.
    package let cancelled = CancelSignal()

    package init(id: RPCIdentifier, method: String, line: [UInt8]) {
        self.id = id
        self.method = method
        self.line = line
    }

    /// Reads the parameters.
    ///
    /// - Throws: an error that names the member that is wrong.
    package func parameters<Parameters: Codable>(_ type: Parameters.Type) throws(RPCError) -> Parameters {
        do {
            return try WireCodec.decode(RPCParameters<Parameters>.self, from: line).params
        } catch {
            throw RPCError(code: RPCError.invalidParameters, message: "\(method): \(WireCodec.explanation(error))")
        }
    }
}
