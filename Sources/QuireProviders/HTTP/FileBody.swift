import Glibc
import NIOCore
import QuireCore
import Synchronization

/// A part of a file as a request's body, read piece by piece as the connection takes it.
struct FileBody: AsyncSequence, Sendable {
    let path: String
    let offset: Int64
    let length: Int64
    let pool: BlockingPool
    let bandwidth: Bandwidth
    let failure: Shortfall

    /// Why a body was not given to its end. The request may fail with that, or with a connection that was closed for it.
    final class Shortfall: Sendable {
        /// Innermost lock.
        private let state = Lock<ProviderError?>(nil)

        var error: ProviderError? { state.withLock { $0 } }
        fileprivate func note(_ error: ProviderError) { state.withLock { $0 = error } }
    }

    private static let piece = 256 << 10

    func makeAsyncIterator() -> Iterator { Iterator(body: self) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let body: FileBody
        private var position: Int64 = 0
        private var file: SharedFile?

        fileprivate init(body: FileBody) { self.body = body }

        /// - Throws: `.corrupt` where the file is shorter than it was.
        mutating func next() async throws -> ByteBuffer? {
            guard position < body.length else { return nil }
            let (path, start, file) = (body.path, body.offset + position, file)
            let count = Int(Swift.min(Int64(body.bandwidth.piece(FileBody.piece)), body.length - position))
            let (opened, buffer): (SharedFile, ByteBuffer)
            do throws(ProviderError) {
                (opened, buffer) = try await body.pool.run { (_) throws(ProviderError) -> (SharedFile, ByteBuffer) in
                    let open: SharedFile
                    if let file { open = file } else { open = try SharedFile(path) }
                    return (open, try open.read(count, at: start))
                }
            } catch {
                body.failure.note(error)
                throw error
            }
            self.file = opened
            position += Int64(buffer.readableBytes)
            try await body.bandwidth.pass(buffer.readableBytes)
            return buffer
        }
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
