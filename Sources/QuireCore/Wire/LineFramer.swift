import Glibc

/// Cuts a stream of bytes into lines of limited length. Pure: bytes in, lines out.
package struct LineFramer: Sendable {
    /// What a stretch of bytes amounted to.
    package enum Output: Sendable, Equatable {
        /// A whole line, without its newline.
        case line([UInt8])
        /// A line is longer than the limit. Nothing follows; the stream is of no use any more.
        case tooLong
    }

    private let limit: Int
    private var pending: [UInt8] = []
    private var isBroken = false

    /// - Parameter limit: most bytes in a line, the newline not counted.
    package init(limit: Int = WireLimits.messageBytes) { self.limit = limit }

    /// Bytes of a line whose end has not come yet.
    package var pendingByteCount: Int { pending.count }

    /// Takes the next bytes; returns the lines that they complete. Empty lines are dropped.
    package mutating func feed(_ bytes: UnsafeRawBufferPointer) -> [Output] {
        guard !isBroken else { return [] }
        var output: [Output] = []
        var rest = bytes
        while let start = rest.baseAddress, let newline = memchr(start, 0x0A, rest.count) {
            let length = UnsafeRawPointer(newline) - start
            guard pending.count + length <= limit else { return output + broken() }
            pending += rest[..<length]
            if !pending.isEmpty { output.append(.line(pending)) }
            pending = []
            rest = UnsafeRawBufferPointer(rebasing: rest[(length + 1)...])
        }
        guard pending.count + rest.count <= limit else { return output + broken() }
        pending += rest
        return output
    }

    private mutating func broken() -> [Output] {
        isBroken = true
        pending = []
        return [.tooLong]
    }
}
