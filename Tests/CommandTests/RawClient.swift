import Glibc
import QuireTransport
import QuireCore
import Testing

/// A client that speaks bytes, not messages. It reads on a thread of its own, once the first line is asked for.
final class RawClient {
    /// Closed when neither the client nor its reading thread uses it any more.
    private final class Socket: Sendable {
        let descriptor: Int32
        init(_ descriptor: Int32) { self.descriptor = descriptor }
        deinit { close(descriptor) }
    }

    private let held: Socket
    private var descriptor: Int32 { held.descriptor }
    private var lines: AsyncStream<String>.Iterator?

    init(home: String) throws {
        held = Socket(socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
        let descriptor = held.descriptor
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array("\(home)/daemon.sock".utf8)) }
        let result = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(result == 0, "connect: \(String(cString: strerror(errno)))")
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Writes all; false when the other side has closed.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    @discardableResult
    func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    func endInput() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// The next line; nil at the end of the connection.
    func line() async throws -> String? {
        var iterator = try lines ?? Self.read(held)
        let line = await iterator.next()
        lines = iterator
        return line
    }

    private static func read(_ held: Socket) throws -> AsyncStream<String>.Iterator {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        try OwnedThread.start(name: "raw-client") {
            var framer = LineFramer(limit: 4 << 20)
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            while case let count = recv(held.descriptor, &buffer, buffer.count, 0), count > 0 {
                let outputs = buffer.withUnsafeBytes { framer.feed(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
                for case .line(let line) in outputs {
                    continuation.yield(String(decoding: line, as: UTF8.self))
                }
            }
            continuation.finish()
        }
        return stream.makeAsyncIterator()
    }
}
