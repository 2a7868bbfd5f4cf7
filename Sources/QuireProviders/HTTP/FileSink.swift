import Crypto
import Glibc
import QuireCore
import Synchronization

/// A new file that an answer's body is written into, with its SHA-256; removed again unless it is kept.
///
/// One caller at a time.
final class FileSink: Sendable {
    private struct State {
        var hasher = SHA256()
        var size: Int64 = 0
        var isKept = false
    }

    private let path: RelativePath
    private let destination: String
    private let file: OpenFile
    private let pool: BlockingPool
    /// Innermost lock; hashing happens under it, on threads of the pool.
    private let state = Lock(State())

    /// Creates the file.
    ///
    /// - Parameters:
    ///   - path: the item, for messages.
    ///   - destination: absolute path where nothing is yet.
    static func create(
        _ destination: String, for path: RelativePath, pool: BlockingPool
    ) async throws(ProviderError) -> FileSink {
        try await pool.run { (_) throws(ProviderError) in
            let file = try ErrnoTranslation.about(path, "brought to \(destination)") { () throws(SystemFailure) in
                OpenFile(
                    taking: try SystemCalls.check("open") {
                        open(destination, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
                    })
            }
            return FileSink(path, destination, file, pool)
        }
    }

    private init(_ path: RelativePath, _ destination: String, _ file: consuming OpenFile, _ pool: BlockingPool) {
        self.path = path
        self.destination = destination
        self.file = file
        self.pool = pool
    }

    deinit { if !state.withLock({ $0.isKept }) { _ = unlink(destination) } }

    /// Bytes written so far.
    var size: Int64 { state.withLock { $0.size } }

    /// Writes the next bytes.
    func write(_ bytes: [UInt8]) async throws(ProviderError) {
        try await pool.run { (_) throws(ProviderError) in
            let offset = self.state.withLock { state in
                state.hasher.update(data: bytes)
                defer { state.size += Int64(bytes.count) }
                return state.size
            }
            let descriptor = self.file.descriptor
            try ErrnoTranslation.about(self.path, "brought to \(self.destination)") { () throws(SystemFailure) in
                try ContentCopy.write(bytes, to: descriptor, at: offset)
            }
        }
    }

    /// Lets the file stay, and tells what is in it.
    ///
    /// - Parameter known: what should be in it, where that is known.
    /// - Throws: `.corrupt` where something else is; the file then goes.
    func keep(_ known: ContentChecksum?) throws(ProviderError) -> ContentChecksum {
        let digest = state.withLock { Array($0.hasher.finalize()) }
        guard let checksum = ContentChecksum(bytes: digest), known == nil || known == checksum else {
            throw ProviderError(.corrupt, "\(path): what arrived is not what was sent")
        }
        state.withLock { $0.isKept = true }
        return checksum
    }
}
