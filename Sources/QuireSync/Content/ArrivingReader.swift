import Glibc
import QuireCore
import QuireStore
import Synchronization

/// One handle's view of a document that is arriving.
final class ArrivingReader: ArrivingContent {
    private let use: ArrivingUse
    /// Innermost lock.
    private let ahead = Lock(ReadAhead())

    let inode: UInt64

    /// - Parameter inode: of the placeholder.
    init(_ use: ArrivingUse, inode: UInt64) { (self.use, self.inode) = (use, inode) }

    private var document: ArrivingDocument { use.document }
    var size: Int64 { document.size }
    var descriptor: Int32 { document.file.rawValue }

    func isHere(_ range: Range<Int64>) -> Bool { document.isHere(range, wanting: wanted(range)) }

    func bring(_ range: Range<Int64>) async throws(MaterializeError) {
        do throws(SyncFailure) {
            try await document.wait(for: range, bringing: wanted(range))
        } catch {
            let errno = error.remedy == .look ? ESTALE : error.errno
            throw MaterializeError(errno: errno, message: error.message)
        }
    }

    private func wanted(_ range: Range<Int64>) -> Range<Int64> {
        ahead.withLock { $0.note(range, size: document.size) }
    }
}
