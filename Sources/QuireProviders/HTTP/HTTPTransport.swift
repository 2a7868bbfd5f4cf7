import AsyncHTTPClient
import Dispatch
import NIOCore
import NIOSSL
package import QuireCore
import Synchronization

/// Asks one server over HTTP/1.1: what WebDAV and S3 share. Nothing else in the package knows the HTTP client beneath.
///
/// Connections are kept for a few seconds and shared by all calls; certificates are checked against the system's
/// authorities, or against one pinned certificate. All methods may be called concurrently from any task, none blocks a
/// thread of the cooperative pool, and cancelling the task ends the request at once with `.cancelled`.
///
/// **Tries.** A request is sent once, but for these: a 400, 401 or 403 from which the authorizer learns is answered once; a
/// safe request whose kept connection turns out to be closed is sent on a fresh one; a safe request is redirected within
/// the server. Everything else is the caller's to repeat, who looks first.
///
/// **Busy servers.** Where a 429 or 503 says how long to wait, later requests wait that long, up to
/// `Limits.longestPause`; beyond it they throw `.unavailable` until it is over. Those that cannot wait say so
/// (`HTTPRequest.heedsPause`).
package final class HTTPTransport: Sendable {
    /// Ends of waiting.
    package struct Limits: Sendable {
        /// Until a connection is there, TLS included.
        package var connect: Duration = .seconds(10)
        /// Without a byte that the other side takes, or that comes from it, while a request waits for it. A server that has
        /// all of a request may be at work for longer (`HTTPRequest.workTime`). What we hold up ourselves is no silence.
        package var idle: Duration = .seconds(30)
        /// Most that a request waits because the server asked for it.
        package var longestPause: Duration = .seconds(5)

        package init() {}
    }

    package let origin: HTTPOrigin
    /// Reads and writes files for bodies.
    let pool = BlockingPool(label: "quire-http", width: 8, isQuick: true)
    let client: HTTPClient
    private let authorizer: (any HTTPAuthorizer)?
    private let explain: @Sendable (HTTPAnswer) -> String?
    private let limits: Limits
    let traffic: Traffic
    /// Before then the server wants no requests. Innermost lock.
    private let pause = Lock<ContinuousClock.Instant?>(nil)

    private static let mostRedirects = 5
    /// What one reading of a socket takes at most; up to four are under way for one request.
    private static let largestReading = 256 << 10

    /// - Parameters:
    ///   - pin: the only certificate to accept; nil for what the system's authorities have signed for the host.
    ///   - authorizer: nil where nobody needs to know who asks.
    ///   - traffic: what bodies pass through, but for those of answers to `send`.
    ///   - explain: the server's own words in an answer that is no success; nil where there are none.
    package init(
        origin: HTTPOrigin, pin: CertificatePin? = nil, authorizer: (any HTTPAuthorizer)? = nil,
        limits: Limits = Limits(), traffic: Traffic = Traffic(),
        explain: @escaping @Sendable (HTTPAnswer) -> String? = ServerWords.plain
    ) {
        self.origin = origin
        self.authorizer = authorizer
        self.limits = limits
        self.traffic = traffic
        self.explain = explain
        client = HTTPClient(
            eventLoopGroupProvider: .shared(HTTPClient.defaultEventLoopGroup),
            configuration: Self.configuration(limits, pin))
    }

    deinit {
        // Keeps itself alive until its connections are closed.
        client.shutdown(queue: .global()) { _ in }
    }

    /// Sends a request and collects the answer, whatever its status.
    ///
    /// - Parameter limit: most bytes of a body; beyond it, `.failed`.
    /// - Throws: `.unavailable` for every trouble on the way; `.cancelled`.
    package func send(_ request: HTTPRequest, limit: Int = 1 << 20) async throws(ProviderError) -> HTTPAnswer {
        var body: [UInt8] = []
        var answer = try await exchange(request, through: nil) { (piece) throws(ProviderError) in
            guard body.count + piece.count <= limit else {
                throw ProviderError(.failed, "\(self.origin) answers with more than the \(limit) bytes expected")
            }
            body += piece.bytes
        } reset: {
            body = []
        }
        if answer.isSuccess { answer.body = body }
        return answer
    }

    /// Sends a request and passes the body of a successful answer on, piece by piece; the next is only read from the
    /// connection once `each` is done with the last.
    ///
    /// - Parameters:
    ///   - head: looks at a successful answer before any of its body comes; what it throws ends the request.
    ///   - each: takes up to about a mebibyte, or what came within some milliseconds; what it throws ends the request. Not
    ///     called for an answer that is no success, whose body is in what is returned.
    /// - Throws: as `send`; what `head` and `each` throw. An answer that is shorter than it says is `.unavailable`.
    package func receive(
        _ request: HTTPRequest, head: (HTTPAnswer) throws(ProviderError) -> Void = { (_) throws(ProviderError) in },
        each: (BodyPiece) async throws(ProviderError) -> Void
    ) async throws(ProviderError) -> HTTPAnswer {
        try await exchange(request, through: traffic.down, head: head, each: each, reset: {})
    }

    /// An answer that is no success, as an error.
    ///
    /// - Parameter what: the item and what was tried, as in "notes/a.txt cannot be written".
    package func error(_ answer: HTTPAnswer, _ what: String) -> ProviderError {
        HTTPStatusTable.error(answer, what, words: explain(answer))
    }

    private func exchange(
        _ original: HTTPRequest, through bandwidth: Bandwidth?,
        head: (HTTPAnswer) throws(ProviderError) -> Void = { (_) throws(ProviderError) in },
        each: (BodyPiece) async throws(ProviderError) -> Void, reset: () -> Void
    ) async throws(ProviderError) -> HTTPAnswer {
        var request = original
        var hasLearned = false
        var redirects = 0
        while true {
            if request.heedsPause { try await waitOutPause() }
            var signed = request
            try await authorizer?.authorize(&signed, at: origin)
            reset()
            let answer = try await attempt(signed, bandwidth, head, each)
            notePause(answer)
            if [400, 401, 403].contains(answer.status), !hasLearned,
                await authorizer?.learns(from: answer, to: signed) ?? false
            {
                hasLearned = true
            } else if let target = redirect(answer, of: request), redirects < Self.mostRedirects {
                redirects += 1
                request.path = String(target.prefix { $0 != "?" })
                request.query = target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
            } else {
                return answer
            }
        }
    }

    /// Where a redirect of a safe request leads within this server; nil for anything else.
    ///
    /// A server behind a proxy that ends TLS may know itself by another origin, and name that where it wants a directory's
    /// path with a slash at its end (Apache's mod_dir). What is followed then is our own path, on our own origin.
    private func redirect(_ answer: HTTPAnswer, of request: HTTPRequest) -> String? {
        guard [301, 302, 307, 308].contains(answer.status), request.isSafe, let location = answer.fields["Location"]
        else { return nil }
        if location.hasPrefix("/"), !location.hasPrefix("//") { return location }
        guard let (origin, target) = HTTPOrigin.parse(location) else { return nil }
        if origin == self.origin { return target }
        let path = PercentEncoding.decode(target.prefix { $0 != "?" })
        guard path == PercentEncoding.decode(request.path) + [0x2F] else { return nil }
        return "\(request.path)/\(request.query.map { "?\($0)" } ?? "")"
    }

    private func notePause(_ answer: HTTPAnswer) {
        guard [429, 503].contains(answer.status), let text = answer.fields["Retry-After"] else { return }
        // By the clock that the date is of: this device's may be another hour's.
        let now = answer.date ?? SystemCalls.now()
        let seconds = Int(text) ?? HTTPDate.parse(text).map { $0.seconds - now.seconds } ?? 0
        guard seconds > 0 else { return }
        let end = ContinuousClock.now + .seconds(min(seconds, 3600))
        pause.withLock { $0 = max($0 ?? end, end) }
    }

    private func waitOutPause() async throws(ProviderError) {
        guard let end = pause.withLock({ $0 }) else { return }
        let left = end - ContinuousClock.now
        guard left > .zero else { return pause.withLock { if $0 == end { $0 = nil } } }
        guard left <= limits.longestPause else {
            throw ProviderError(
                .unavailable, "\(origin) is busy and asked not to be asked for another \(left.components.seconds) s")
        }
        try await HTTPFailure.pause(left)
    }

    private static func configuration(_ limits: Limits, _ pin: CertificatePin?) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: .init(connect: TimeAmount(limits.connect)))
        // Nothing listens, and making a span takes as long as signing a request.
        configuration.tracing.tracer = nil
        // A request has its connection to itself, so that ending the one ends the other.
        configuration.httpVersion = .http1Only
        // Shorter than the five seconds after which common servers close what nobody uses.
        configuration.connectionPool.idleTimeout = .seconds(4)
        // Above what any caller has under way: a lock must be renewed while everything else is busy uploading.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        configuration.connectionPool.retryConnectionEstablishment = false
        if pin != nil {
            var tls = TLSConfiguration.makeClientConfiguration()
            // The certificate itself is compared, which is stricter than any chain and any name in it.
            tls.certificateVerification = .none
            configuration.tlsConfiguration = tls
        }
        configuration.http1_1ConnectionDebugInitializer = { channel in
            let isReady = channel.eventLoop.makeCompletedFuture { try prepare(channel, limits) }
            guard let pin else { return isReady }
            return isReady.flatMap { pin.check(channel) }
        }
        return configuration
    }

    /// Makes a fresh connection ready for requests.
    private static func prepare(_ channel: any Channel, _ limits: Limits) throws {
        // A body is handed from thread to thread once for each reading.
        let readings = AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 4096, maximum: largestReading)
        try channel.syncOptions?.setOption(.recvAllocator, value: readings)
        try ConnectionCounts.keepAlive(channel, idle: limits.idle)
        try SilenceWatch.add(to: channel, idle: limits.idle)
    }
}
