/// The `error` member of an answer.
package struct RPCError: Error, Sendable, Hashable, Codable {
    /// Members beside message and code, for errors of Quire's own.
    package struct Details: Sendable, Hashable, Codable {
        /// `usage`, `unavailable`, `temporary`, `notFound`, `notAllowed`, `busy`, `conflict` or `failed`.
        package var kind: String
        package var remedy: String?
    }

    package var code: Int
    package var message: String
    package var data: Details?

    package init(code: Int, message: String, data: Details? = nil) {
        self.code = code
        self.message = message
        self.data = data
    }

    /// JSON-RPC 2.0, "Error object": the text is not JSON, or longer than a message may be.
    package static let parseError = -32_700
    package static let invalidRequest = -32_600
    package static let methodNotFound = -32_601
    package static let invalidParameters = -32_602
    package static let internalError = -32_603
    /// An error of Quire's own; `data.kind` says which.
    package static let quire = -32_000
    /// The request was taken back, or its connection is closing.
    package static let cancelled = -32_800

    /// The error for the wire.
    package init(_ error: QuireError) {
        self.init(
            code: Self.quire, message: error.message,
            data: Details(kind: error.code.value.rawValue, remedy: error.remedy))
    }

    /// The error as a person meets it.
    package var quireError: QuireError {
        if let data, let value = QuireError.Code.Value(rawValue: data.kind) {
            return QuireError(QuireError.Code(value), message, remedy: data.remedy)
        }
        let code: QuireError.Code = code == Self.cancelled ? .temporary : .failed
        return QuireError(code, message)
    }
}
