import NIOCore

/// A piece of an answer's body, in the buffers that it was received into: nothing is copied until it is where it belongs.
package struct BodyPiece: Sendable {
    private var buffers: [ByteBuffer] = []
    /// How many bytes it has.
    package private(set) var count = 0

    init() {}

    mutating func append(_ buffer: ByteBuffer) {
        buffers.append(buffer)
        count += buffer.readableBytes
    }

    /// All its bytes, copied.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        for buffer in buffers { bytes += buffer.readableBytesView }
        return bytes
    }

    /// The same bytes as pieces of `most` bytes, one or more; the last may have less.
    func parts(of most: Int) -> [BodyPiece] {
        guard count > most else { return [self] }
        var parts: [BodyPiece] = []
        var part = BodyPiece()
        for var buffer in buffers {
            while let slice = buffer.readSlice(length: min(buffer.readableBytes, most - part.count)),
                slice.readableBytes > 0
            {
                part.append(slice)
                guard part.count == most else { continue }
                parts.append(part)
                part = BodyPiece()
            }
        }
        if part.count > 0 { parts.append(part) }
        return parts
    }

    /// Hands out its bytes, in order; they are valid during the call.
    func forEachPart<Failure: Error>(_ body: (UnsafeRawBufferPointer) throws(Failure) -> Void) throws(Failure) {
        for buffer in buffers {
            let result = buffer.withUnsafeReadableBytes { part in
                Result { () throws(Failure) -> Void in try body(part) }
            }
            try result.get()
        }
    }
}
