import Crypto
import Glibc
import QuireCore
import Synchronization

/// A new file that an answer's body is written into, with its SHA-256; removed again unless it is kept.
///
/// One caller at a time.
final class FileSink: Sendable {
    private struct State {
        /// Made with the first bytes: so a small document costs one change of thread.
        var descriptor: Int32?
        var hasher = SHA256()
        var size: Int64 = 0
        var isKept = false
    }

    private let path: RelativePath
    private let destination: String
    private let pool: BlockingPool
    /// Innermost lock; hashing happens under it, on threads of the pool.
    private let state = Lock(State())

    /// The file is made when something is to be written into it.
    ///
    /// - Parameters:
    ///   - path: the item, for messages.
    ///   - destination: absolute path where nothing is yet.
    init(_ destination: String, for path: RelativePath, pool: BlockingPool) {
        self.path = path
        self.destination = destination
        self.pool = pool
    }

    deinit {
        let (descriptor, isKept) = state.withLock { ($0.descriptor, $0.isKept) }
        guard let descriptor else { return }
        close(descriptor)
        if !isKept { _ = unlink(destination) }
    }

    /// The file's descriptor. Blocks.
    private func descriptor() throws(ProviderError) -> Int32 {
        if let known = state.withLock({ $0.descriptor }) { return known }
        let made = try ErrnoTranslation.about(path, "brought to \(destination)") { () throws(SystemFailure) in
            try SystemCalls.check("open") {
                open(destination, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            }
        }
        state.withLock { $0.descriptor = made }
        return made
    }

    /// Bytes written so far.
    var size: Int64 { state.withLock { $0.size } }

    /// The SHA-256 of the bytes so far.
    var checksum: ContentChecksum { state.withLock { ContentChecksum($0.hasher.finalize()) } }

    /// Writes the next bytes.
    func write(_ piece: BodyPiece) async throws(ProviderError) {
        try await pool.run { (_) throws(ProviderError) in
            let descriptor = try self.descriptor()
            try piece.forEachPart { (bytes) throws(ProviderError) in
                let offset = self.state.withLock { state in
                    state.hasher.update(bufferPointer: bytes)
                    defer { state.size += Int64(bytes.count) }
                    return state.size
                }
                try ErrnoTranslation.about(self.path, "brought to \(self.destination)") { () throws(SystemFailure) in
                    try ContentCopy.write(bytes, to: descriptor, at: offset)
                }
            }
        }
    }

    /// Lets the file stay, and tells what is in it.
    ///
    /// - Parameter known: what should be in it, where that is known.
    /// - Throws: `.corrupt` where something else is; the file then goes.
    func keep(_ known: ContentChecksum?) async throws(ProviderError) -> ContentChecksum {
        // Of what is empty nothing was written.
        if size == 0 { try await pool.run { (_) throws(ProviderError) in _ = try self.descriptor() } }
        let checksum = checksum
        guard known == nil || known == checksum else {
            try await discard()
            throw Self.corrupt(path)
        }
        state.withLock { $0.isKept = true }
        return checksum
    }

    /// Removes the file; when this returns it is gone. Nothing may be written any more.
    func discard() async throws(ProviderError) {
        try await pool.run { (_) throws(ProviderError) in
            let descriptor = self.state.withLock { state in
                defer { state.descriptor = nil }
                return state.descriptor
            }
            guard let descriptor else { return }
            close(descriptor)
            _ = unlink(self.destination)
        }
    }

    /// What is known of a document is not so of what arrived.
    static func corrupt(_ path: RelativePath) -> ProviderError {
        ProviderError(.corrupt, "what arrived of \(path) is not what was uploaded: its SHA-256 differs")
    }
}
