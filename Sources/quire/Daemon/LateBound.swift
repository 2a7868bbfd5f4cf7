import Glibc
import QuireCore
import Synchronization

/// The driver needs a content source before there is one: the sync engine itself needs the driver.
final class LateContentSource: ContentSource {
    // Taken alone.
    private let source = Mutex<(any ContentSource)?>(nil)

    /// From now on `source` is asked.
    func bind(_ source: some ContentSource) { self.source.withLock { $0 = source } }

    func materialize(path: RelativePath, inode: UInt64) async throws(MaterializeError) {
        guard let source = source.withLock({ $0 }) else {
            throw MaterializeError(errno: EAGAIN, message: "\(path): the drive is starting")
        }
        try await source.materialize(path: path, inode: inode)
    }
}
