package import QuireCore

/// One request, as it will be on the wire but for what authorises it.
package struct HTTPRequest: Sendable {
    /// What is sent after the head.
    package enum Body: Sendable {
        case none
        case bytes([UInt8])
        /// `length` bytes of the file at an absolute path, from `offset` on. Nobody may write to it meanwhile.
        ///
        /// Where these have another SHA-256 than `checksum`, the last of them are not sent, and the request fails.
        case file(path: String, offset: Int64, length: Int64, checksum: ContentChecksum? = nil)
        /// A document that programs may write to; the last of it is sent when it was sealed.
        case live(LiveDocument)
        /// What `next` gives until it gives nil: `length` bytes in all, or the request fails.
        case pieces(length: Int64, next: @Sendable () async -> [UInt8]?)

        /// Bytes that are sent.
        package var length: Int64 {
            switch self {
            case .none: 0
            case .bytes(let bytes): Int64(bytes.count)
            case .file(_, _, let length, _), .pieces(let length, _): length
            case .live(let document): document.size.bytes
            }
        }
    }

    /// `GET`, `PROPFIND` and so on, in capitals.
    package var method: String
    /// Percent-encoded, with a leading slash.
    package var path: String
    /// Percent-encoded, without the question mark; nil for none.
    package var query: String?
    package var fields: HTTPFields
    package var body: Body
    /// Most time until the answer is there whole; nil for as long as bytes flow.
    package var timeLimit: Duration?
    /// How long the server may be at work once it has all of the request, besides what it gets for the size of the body.
    package var workTime: Duration = .zero
    /// Asks or tells something, and carries no document: it does not wait while a limit holds documents up, but for what is
    /// beyond the first kilobytes of its body and its answer's. So is all but GET and PUT.
    package var isControl: Bool
    /// Waits where the server asked for a pause (`HTTPTransport`, "Busy servers").
    package var heedsPause = true

    package init(
        _ method: String, _ path: String, query: String? = nil, fields: HTTPFields = [:], body: Body = .none,
        timeLimit: Duration? = nil
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.fields = fields
        self.body = body
        self.timeLimit = timeLimit
        isControl = !["GET", "PUT"].contains(method)
    }

    /// Path and query, as in the request line.
    package var target: String { query.map { "\(path)?\($0)" } ?? path }

    /// Whether the method changes nothing, so that asking twice does no harm (RFC 9110 §9.2.1, RFC 4918 §9.1).
    package var isSafe: Bool { ["GET", "HEAD", "OPTIONS", "PROPFIND", "REPORT"].contains(method) }
}

/// What a server answered.
package struct HTTPAnswer: Sendable {
    /// 200 … 599.
    package var status: Int
    package var fields: HTTPFields
    /// Empty where it was streamed.
    package var body: [UInt8]

    package init(status: Int, fields: HTTPFields = [:], body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// 2xx.
    package var isSuccess: Bool { (200..<300).contains(status) }

    /// Whether it says how the server, or the way there, is at this moment, and nothing of what was asked: who wants to
    /// know what the server can do has to ask again.
    package var provesNothing: Bool {
        [401, 407, 408, 425, 429, 502, 503, 504, 507, 509, 511].contains(status) || (520..<600).contains(status)
    }

    /// When the server has answered, by its own clock; nil where it does not say so.
    package var date: FileTime? { fields["Date"].flatMap { HTTPDate.parse($0) } }

    /// When what is in it was changed last, by the server's clock; nil where it does not say so.
    package var lastModified: FileTime? { fields["Last-Modified"].flatMap { HTTPDate.parse($0) } }
}
