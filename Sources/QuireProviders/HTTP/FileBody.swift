import Crypto
import Glibc
import NIOCore
import QuireCore
import Synchronization

/// A part of a file as a request's body, read piece by piece as the connection takes it.
struct FileBody: AsyncSequence, Sendable {
    let path: String
    let offset: Int64
    let length: Int64
    let end: End
    let pool: BlockingPool
    let bandwidth: Bandwidth
    let failure: Shortfall

    /// What has to hold before the last piece is sent.
    enum End: Sendable {
        /// Whatever is there is sent.
        case any
        /// All has this SHA-256.
        case checksum(ContentChecksum)
        /// Who knows what may be sent agrees to this SHA-256.
        case seal(@Sendable (ContentChecksum) async throws(ProviderError) -> Void)

        /// Looks at the SHA-256 of all.
        func check(_ found: ContentChecksum, _ path: String) async throws(ProviderError) {
            switch self {
            case .any: break
            case .checksum(let known): if known != found { throw FileBody.changed(path) }
            case .seal(let seal): try await seal(found)
            }
        }

        fileprivate var isAny: Bool { if case .any = self { true } else { false } }
    }

    /// Why a body was not given to its end. The request may fail with that, or with a connection that was closed for it.
    final class Shortfall: Sendable {
        /// Innermost lock.
        private let state = Lock<ProviderError?>(nil)

        var error: ProviderError? { state.withLock { $0 } }
        fileprivate func note(_ error: ProviderError) { state.withLock { $0 = error } }
    }

    private static let piece = 1 << 20
    /// What a connection takes without waiting for the server.
    private static let small = 64 << 10

    /// All of it, where that is little.
    ///
    /// - Throws: as when it is read piece by piece.
    func whole() async throws -> ByteBuffer? {
        guard length <= Self.small, length <= bandwidth.piece(Self.small) else { return nil }
        var iterator = makeAsyncIterator()
        // Whatever the rate is by now: it is the whole body.
        return try await iterator.next(Int(length))
    }

    func makeAsyncIterator() -> Iterator { Iterator(body: self) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let body: FileBody
        private var position: Int64 = 0
        private var file: SharedFile?
        private var hash = SHA256()

        fileprivate init(body: FileBody) { self.body = body }

        /// - Throws: `.corrupt` where the file is shorter than it was, or another.
        mutating func next() async throws -> ByteBuffer? {
            guard position < body.length else { return nil }
            return try await next(Int(Swift.min(Int64(body.bandwidth.piece(FileBody.piece)), body.length - position)))
        }

        /// The next `count` bytes, of which there are as many.
        fileprivate mutating func next(_ count: Int) async throws -> ByteBuffer {
            let buffer: ByteBuffer
            do throws(ProviderError) { buffer = try await read(count) } catch {
                body.failure.note(error)
                throw error
            }
            position += Int64(buffer.readableBytes)
            try await body.bandwidth.pass(buffer.readableBytes)
            return buffer
        }

        /// The next `count` bytes; the last ones only where all are what they should be.
        private mutating func read(_ count: Int) async throws(ProviderError) -> ByteBuffer {
            let (body, start, file, known) = (body, body.offset + position, file, hash)
            let (opened, buffer, next) = try await body.pool.run {
                (_) throws(ProviderError) -> (SharedFile, ByteBuffer, SHA256) in
                let open: SharedFile
                if let file { open = file } else { open = try SharedFile(body.path) }
                let buffer = try open.read(count, at: start)
                var hash = known
                if !body.end.isAny { buffer.withUnsafeReadableBytes { hash.update(bufferPointer: $0) } }
                return (open, buffer, hash)
            }
            (self.file, hash) = (opened, next)
            if !body.end.isAny, position + Int64(count) == body.length {
                try await body.end.check(ContentChecksum(next.finalize()), body.path)
            }
            return buffer
        }
    }

    /// What is to be sent is not what it was.
    static func changed(_ path: String) -> ProviderError {
        ProviderError(.corrupt, "\(path) is not what it was when it was to be sent")
    }
}

/// A file open for reading, passed from one step to the next.
private final class SharedFile: Sendable {
    private let path: String
    private let file: OpenFile

    init(_ path: String) throws(ProviderError) {
        self.path = path
        file = try ErrnoTranslation.about(.root, "uploaded from \(path)") { () throws(SystemFailure) in
            OpenFile(taking: try SystemCalls.check("open") { open(path, O_RDONLY | O_CLOEXEC) })
        }
    }

    /// `count` bytes from `offset` on.
    func read(_ count: Int, at offset: Int64) throws(ProviderError) -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: count)
        let descriptor = file.descriptor
        while buffer.readableBytes < count {
            let end = offset + Int64(buffer.readableBytes)
            let wanted = count - buffer.readableBytes
            let got = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: wanted) { space in
                Swift.max(0, pread(descriptor, space.baseAddress, wanted, off_t(end)))
            }
            guard got > 0 else {
                throw ProviderError(.corrupt, "\(path) cannot be read to the end that it had when it was to be sent")
            }
        }
        return buffer
    }
}
