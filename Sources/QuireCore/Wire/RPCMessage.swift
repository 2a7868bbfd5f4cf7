/// The id of a JSON-RPC request: a number or a string, given back as it came.
package enum RPCIdentifier: Sendable, Hashable, Codable {
    case number(Int64)
    case string(String)

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(Int64.self) {
            self = .number(number)
        } else {
            self = .string(try container.decode(String.self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .number(let number): try container.encode(number)
        case .string(let string): try container.encode(string)
        }
    }
}

/// What every message has in common: enough to tell a request, a notification and an answer apart.
package struct RPCHeader: Sendable, Decodable {
    /// `"2.0"`, or the message is refused.
    package var jsonrpc: String?
    package var id: RPCIdentifier?
    package var method: String?
    package var error: RPCError?

    package init() {}
}

/// A request, or with no id a notification.
package struct RPCRequest<Parameters: Codable & Sendable>: Sendable, Codable {
    package var jsonrpc = "2.0"
    package var id: RPCIdentifier?
    package var method: String
    package var params: Parameters

    package init(id: RPCIdentifier?, method: String, params: Parameters) {
        self.id = id
        self.method = method
        self.params = params
    }
}

/// Only the parameters of a request, read once the method is known. A missing member reads as an empty object.
package struct RPCParameters<Parameters: Decodable>: Decodable {
    package var params: Parameters

    package init(params: Parameters) { self.params = params }

    private enum CodingKeys: CodingKey { case params }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if Parameters.self == WireNothing.self, let nothing = WireNothing() as? Parameters {
            self.params = nothing
        } else {
            self.params = try container.decode(Parameters.self, forKey: .params)
        }
    }
}

/// An answer that went well.
package struct RPCAnswer<Result: Codable & Sendable>: Sendable, Codable {
    package var jsonrpc = "2.0"
    package var id: RPCIdentifier
    package var result: Result

    package init(id: RPCIdentifier, result: Result) {
        self.id = id
        self.result = result
    }
}

/// An answer that says what went wrong. The id is null when the request's could not be read.
package struct RPCFailure: Sendable, Encodable {
    package var id: RPCIdentifier?
    package var error: RPCError

    package init(id: RPCIdentifier?, error: RPCError) {
        self.id = id
        self.error = error
    }

    private enum CodingKeys: CodingKey { case jsonrpc, id, error }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode("2.0", forKey: .jsonrpc)
        try container.encode(id, forKey: .id)
        try container.encode(error, forKey: .error)
    }
}

/// A part of a long answer, or progress; comes before the answer to the request it names.
package struct WirePartial<Value: Codable & Sendable>: Sendable, Codable {
    /// The method of the notification that carries parts.
    package static var method: String { "partial" }

    /// The request's id.
    package var id: RPCIdentifier
    package var value: Value

    package init(id: RPCIdentifier, value: Value) {
        self.id = id
        self.value = value
    }
}

/// Takes a request back; it is then answered with the error `cancelled`.
package struct WireCancel: Sendable, Codable {
    /// The method of the notification that cancels.
    package static let method = "cancel"

    /// The request's id.
    package var id: RPCIdentifier

    package init(id: RPCIdentifier) { self.id = id }
}
