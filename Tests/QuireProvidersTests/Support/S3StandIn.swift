import QuireCore
import Synchronization

@testable import QuireProviders

/// An object store in memory: the bucket `b`, with all conditions unless told otherwise, and listings of a manner of their own.
final class S3StandIn: Sendable {
    /// How keys are listed.
    enum Manner: Sendable {
        /// As they are, whatever was asked for.
        case plain
        /// Encoded, which the listing says.
        case encoded
        /// Encoded, which it does not say.
        case silent
        /// Encoded, without those that have a plus sign in them.
        case withoutPluses
    }

    /// What is answered to requests that begin so, in place of what the store would.
    struct Script: Sendable {
        /// `METHOD TARGET`.
        var beginning: String
        /// A field that the request must have, in lower case; nil for any.
        var field: String?
        var status = "200 OK"
        var body = ""
    }

    struct State: Sendable {
        var objects: [[UInt8]: [UInt8]] = [:]
        /// Large objects by their targets, of which there is only what HEAD tells.
        var staged: [String: (size: Int64, checksum: ContentChecksum)] = [:]
        var scripts: [Script] = []
        var ignoresConditions = false
        /// `METHOD TARGET` of each request.
        var log: [String] = []
        /// The head of each request, in lower case.
        var heads: [String] = []
    }

    private let server: LoopbackServer
    private let state: SharedState

    private final class SharedState: Sendable {
        let lock = Lock(State())
    }

    init(_ manner: Manner = .encoded, _ scripts: [Script] = []) throws {
        let state = SharedState()
        state.lock.withLock { $0.scripts = scripts }
        self.state = state
        server = try LoopbackServer { peer in
            while let request = peer.request() { Self.serve(peer, request, manner, state) }
        }
    }

    var client: S3Client { server.store }

    func with<Value>(_ body: (inout State) -> Value) -> Value { state.lock.withLock { body(&$0) } }

    private static func tag(_ bytes: [UInt8]) -> String { "\"\(ContentChecksum.sha256(of: bytes))\"" }

    private static func serve(
        _ peer: LoopbackServer.Peer, _ request: (head: String, body: [UInt8]), _ manner: Manner, _ state: SharedState
    ) {
        let words = request.head.split(separator: " ")
        let (line, head) = ("\(words[0]) \(words[1])", request.head.lowercased())
        let script = state.lock.withLock { state in
            state.log.append(line)
            state.heads.append(head)
            return state.scripts.first { script in
                line.hasPrefix(script.beginning) && script.field.map { head.contains("\r\n\($0):") } ?? true
            }
        }
        if let script { return peer.answer(script.status, [], script.body) }
        guard !words[1].contains("?") else {
            guard words[1].contains("list-type=2") else { return peer.answer("501 Not Implemented") }
            let query = words[1].split(separator: "?")[1].split(separator: "&")
            let prefix = query.first { $0.hasPrefix("prefix=") }.map { PercentEncoding.decode($0.dropFirst(7)) } ?? []
            let objects = state.lock.withLock { $0.objects.filter { $0.key.starts(with: prefix) } }
            return peer.answer("200 OK", [], listing(objects, manner))
        }
        if words[0] == "HEAD", let staged = state.lock.withLock({ $0.staged[String(words[1])] }) {
            let fields = "Content-Length: \(staged.size)\r\n\(S3Metadata.checksum): \(staged.checksum)\r\nETag: \"1\""
            return peer.send("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n")
        }
        let key = PercentEncoding.decode(words[1].dropFirst("/b/".count))
        let (there, ignoresConditions) = state.lock.withLock { ($0.objects[key], $0.ignoresConditions) }
        let isRefused =
            !ignoresConditions
            && (head.contains("\r\nif-none-match:") && there != nil
                || head.contains("\r\nif-match:") && !(there.map { head.contains("\r\nif-match: \(tag($0))") } ?? false)
                || head.contains("\r\nx-amz-copy-source-if-match:"))
        switch words[0] {
        case _ where isRefused: peer.answer("412 Precondition Failed")
        case "GET", "HEAD":
            guard let there else { return peer.answer("404 Not Found") }
            let fields = "Content-Length: \(there.count)\r\nETag: \(tag(there))"
            peer.send(Array("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n".utf8) + (words[0] == "GET" ? there : []))
        case "PUT":
            state.lock.withLock { $0.objects[key] = request.body }
            peer.answer("200 OK", ["ETag: \(tag(request.body))"])
        default:
            state.lock.withLock { $0.objects[key] = nil }
            peer.answer("204 No Content")
        }
    }

    private static func listing(_ objects: [[UInt8]: [UInt8]], _ manner: Manner) -> String {
        let listed = objects.filter { manner != .withoutPluses || !$0.key.contains(UInt8(ascii: "+")) }
        let contents = listed.map { object in
            // As Go writes what XML cannot hold.
            let text = String(decoding: object.key.map { $0 < 0x20 && $0 != 0x0A ? 0x3F : $0 }, as: UTF8.self)
            let key = manner == .plain ? text : PercentEncoding.encode(object.key)
            let size = object.value.count
            return "<Contents><Key>\(key)</Key><ETag>\(tag(object.value))</ETag><Size>\(size)</Size></Contents>"
        }
        let said = manner == .encoded || manner == .withoutPluses ? "<EncodingType>url</EncodingType>" : ""
        return "<ListBucketResult>\(contents.joined())\(said)</ListBucketResult>"
    }
}
