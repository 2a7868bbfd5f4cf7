import Glibc
import QuireCore
import Synchronization

@testable import QuireProviders

/// A server on loopback that a test scripts byte by byte: one thread a connection, no rules of its own.
final class LoopbackServer: Sendable {
    /// One connection.
    final class Peer: Sendable {
        private let descriptor: Int32

        fileprivate init(_ descriptor: Int32) { self.descriptor = descriptor }

        /// The next request's head and body, by its Content-Length; nil once the client has gone.
        ///
        /// - Parameter refusal: what is answered in place of reading a body, by the head; nil where it is read.
        func request(refusing refusal: (String) -> String? = { _ in nil }) -> (head: String, body: [UInt8])? {
            guard var head = head() else { return nil }
            let end = Array("\r\n\r\n".utf8)
            guard let split = head.firstRange(of: end) else { return nil }
            var body = Array(head[split.upperBound...])
            head.removeSubrange(split.lowerBound...)
            let text = String(decoding: head, as: UTF8.self)
            if let status = refusal(text) {
                answer(status, ["Connection: close"])
                return nil
            }
            let length = text.split(separator: "\r\n").lazy.compactMap { line -> Int? in
                line.lowercased().hasPrefix("content-length:") ? Int(line.dropFirst(15).drop { $0 == " " }) : nil
            }.first
            while body.count < length ?? 0 {
                let more = read()
                if more.isEmpty { return nil }
                body += more
            }
            return (text, body)
        }

        /// Everything up to the end of a head, and what came with it.
        private func head() -> [UInt8]? {
            var head: [UInt8] = []
            while head.firstRange(of: Array("\r\n\r\n".utf8)) == nil {
                let more = read()
                if more.isEmpty { return nil }
                head += more
            }
            return head
        }

        /// What comes next; empty once the client has gone.
        func read() -> [UInt8] {
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            return Array(buffer.prefix(max(0, count)))
        }

        func send(_ text: String) { send(Array(text.utf8)) }

        func send(_ bytes: [UInt8]) {
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Array(rest).withUnsafeBytes {
                    Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }

        /// A whole answer.
        func answer(_ status: String, _ fields: [String] = [], _ body: String = "") {
            let lines = ["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)"] + fields
            send(lines.joined(separator: "\r\n") + "\r\n\r\n" + body)
        }

        /// Returns when the client has closed the connection.
        func waitForEnd() { while !read().isEmpty {} }

        fileprivate func close() { _ = Glibc.close(descriptor) }
    }

    let port: Int
    private let listener: Int32

    /// - Parameters:
    ///   - receiveBuffer: how many bytes the kernel takes for a connection that nobody reads from; nil for its own choice.
    ///   - serve: runs on a thread of its own for each connection, which is closed when it returns.
    init(receiveBuffer: Int32? = nil, _ serve: @escaping @Sendable (Peer) -> Void) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        if var receiveBuffer {
            setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutableBytes(of: &address) { bytes in
            let pointer = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
            return bind(listener, pointer, length) == 0 && listen(listener, 64) == 0
                && getsockname(listener, pointer, &length) == 0
        }
        guard isBound else { throw TemporaryDirectory.Failure(errno: errno) }
        port = Int(UInt16(bigEndian: address.sin_port))
        try OwnedThread.start(name: "loopback") {
            // Closed here, where nobody waits for it any more: its number is soon another server's.
            defer { _ = Glibc.close(listener) }
            while case let connection = accept(listener, nil, nil), connection >= 0 {
                let started = OwnedThread(name: "loopback") {
                    let peer = Peer(connection)
                    serve(peer)
                    peer.close()
                }
                if started == nil { _ = Glibc.close(connection) }
            }
        }
    }

    /// Serves requests one after the other, each with the next step; the last goes on for all that follow.
    convenience init(steps: [@Sendable (Peer, (head: String, body: [UInt8])) -> Void]) throws {
        let next = Lock(0)
        try self.init { peer in
            while let request = peer.request() {
                let index = next.withLock { number in
                    defer { number += 1 }
                    return min(number, steps.count - 1)
                }
                steps[index](peer, request)
            }
        }
    }

    /// The bucket `b` of it, as a store that is open to everybody.
    var store: S3Client {
        let origin = HTTPOrigin(isSecure: false, host: "127.0.0.1", port: port)
        return S3Client(S3Address(endpoint: origin, bucket: "b", prefix: ""), signer: nil)
    }

    deinit { _ = shutdown(listener, Int32(SHUT_RDWR)) }
}
