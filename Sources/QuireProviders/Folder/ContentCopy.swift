import CLinux
import Crypto
import Glibc
import QuireCore

/// Copies content between descriptors and computes its SHA-256 on the way.
enum ContentCopy {
    /// How much moves between two looks at the cancellation.
    static let chunk = 1 << 20

    /// Copies all of `source` from its start to the empty file `target`; chunks of zeros become holes.
    ///
    /// - Parameters:
    ///   - path: the item, for messages.
    ///   - target: open for reading and writing.
    ///   - expected: how many bytes there should be; a source that has grown is not followed for ever.
    ///   - bandwidth: waited for on this thread.
    ///   - progress: called with the bytes copied so far.
    /// - Returns: what was copied: more than `expected` where the source has grown.
    static func copy(
        _ path: RelativePath, from source: Int32, to target: Int32, expected: Int64, cancellation: Cancellation,
        bandwidth: Bandwidth? = nil, progress: (ByteCount) -> Void = { _ in }
    ) throws(ProviderError) -> (size: ByteCount, checksum: ContentChecksum) {
        let cloned = isCloned(from: source, to: target)
        return try hash(path, cloned ? target : source, expected, cancellation, bandwidth, progress) {
            (bytes, offset) throws(ProviderError) in
            if cloned || isZero(bytes) { return }
            try ErrnoTranslation.about(path, "written") { () throws(SystemFailure) in
                try write(bytes, to: target, at: offset)
            }
        } end: { (size) throws(ProviderError) in
            try ErrnoTranslation.about(path, "written") { () throws(SystemFailure) in
                _ = try SystemCalls.check("ftruncate") { ftruncate(target, Int(size)) }
            }
        }
    }

    /// Shares the blocks where the filesystem can. What is hashed afterwards is the clone, which nobody else changes.
    private static func isCloned(from source: Int32, to target: Int32) -> Bool {
        quire_ficlone(target, source) == 0
    }

    private static func hash(
        _ path: RelativePath, _ source: Int32, _ expected: Int64, _ cancellation: Cancellation,
        _ bandwidth: Bandwidth?, _ progress: (ByteCount) -> Void,
        each: (UnsafeRawBufferPointer, Int64) throws(ProviderError) -> Void, end: (Int64) throws(ProviderError) -> Void
    ) throws(ProviderError) -> (size: ByteCount, checksum: ContentChecksum) {
        var hasher = SHA256()
        var offset: Int64 = 0
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: chunk, alignment: 4096)
        defer { buffer.deallocate() }
        while offset <= expected {
            try cancellation.check()
            let count = try ErrnoTranslation.about(path, "read") { () throws(SystemFailure) in
                let wanted = bandwidth?.piece(chunk) ?? chunk
                return try SystemCalls.check("read") {
                    Int32(pread(source, buffer.baseAddress, wanted, off_t(offset)))
                }
            }
            if count == 0 { break }
            let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<Int(count)])
            hasher.update(bufferPointer: bytes)
            try each(bytes, offset)
            offset += Int64(count)
            progress(ByteCount(offset))
            bandwidth?.passBlocking(Int(count)) { cancellation.isCancelled }
        }
        try end(offset)
        guard let checksum = ContentChecksum(bytes: Array(hasher.finalize())) else {
            throw ProviderError(.corrupt, "\(path): no checksum could be computed")
        }
        return (ByteCount(offset), checksum)
    }

    /// Writes all of `bytes` from `offset` on.
    static func write(_ bytes: [UInt8], to target: Int32, at offset: Int64 = 0) throws(SystemFailure) {
        try bytes.withUnsafeBufferPointer { (buffer) throws(SystemFailure) in
            try write(UnsafeRawBufferPointer(buffer), to: target, at: offset)
        }
    }

    /// Writes all of `bytes` from `offset` on.
    static func write(
        _ bytes: UnsafeRawBufferPointer, to target: Int32, at offset: Int64
    ) throws(SystemFailure) {
        var rest = bytes
        var position = offset
        while !rest.isEmpty {
            let part = rest
            let count = try SystemCalls.check("write") {
                Int32(pwrite(target, part.baseAddress, part.count, off_t(position)))
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[Int(count)...])
            position += Int64(count)
        }
    }

    /// Reads `range` of `source`, in steps of at most `chunk` bytes, no faster than `bandwidth` lets it.
    ///
    /// - Throws: `.conditionFailed` where it ends before; what `each` throws.
    static func read(
        _ path: RelativePath, _ range: Range<Int64>, of source: Int32, _ cancellation: Cancellation,
        _ bandwidth: Bandwidth, each: (UnsafeRawBufferPointer) throws(ProviderError) -> Void
    ) throws(ProviderError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: chunk, alignment: 4096)
        defer { buffer.deallocate() }
        var offset = range.lowerBound
        while offset < range.upperBound {
            try cancellation.check()
            let wanted = Int(min(Int64(bandwidth.piece(chunk)), range.upperBound - offset))
            let position = off_t(offset)
            let count = try ErrnoTranslation.about(path, "read") { () throws(SystemFailure) in
                try SystemCalls.check("read") { Int32(pread(source, buffer.baseAddress, wanted, position)) }
            }
            guard count > 0 else { throw ProviderError.refused(path) }
            try each(UnsafeRawBufferPointer(rebasing: buffer[..<Int(count)]))
            offset += Int64(count)
            bandwidth.passBlocking(Int(count)) { cancellation.isCancelled }
        }
    }

    private static func isZero(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count > 1, let start = bytes.baseAddress else { return bytes.allSatisfy { $0 == 0 } }
        return bytes[0] == 0 && memcmp(start, start + 1, bytes.count - 1) == 0
    }
}
