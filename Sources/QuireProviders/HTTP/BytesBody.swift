import NIOCore
import QuireCore

/// Bytes as a request's body, in pieces that go as a limit lets them.
struct BytesBody: AsyncSequence, Sendable {
    let bytes: ByteBuffer
    let bandwidth: Bandwidth

    func makeAsyncIterator() -> Iterator { Iterator(rest: bytes, bandwidth: bandwidth) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate var rest: ByteBuffer
        fileprivate let bandwidth: Bandwidth

        mutating func next() async throws -> ByteBuffer? {
            let count = bandwidth.piece(rest.readableBytes)
            guard count > 0, let piece = rest.readSlice(length: count) else { return nil }
            try await bandwidth.pass(count)
            return piece
        }
    }
}
