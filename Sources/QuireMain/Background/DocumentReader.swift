import Glibc
import QuireCore
import QuireStore

/// Reads documents for work that nobody waits for: from the store, never from the mount, and never from a provider.
///
/// Blocks; belongs on a pool.
struct DocumentReader: Sendable {
    let tree: DriveTree
    let staging: Staging

    /// A copy of a document, of one moment.
    ///
    /// - Returns: the absolute path of a file in the staging directory, which is the caller's to remove.
    /// - Throws: `.wrongKind`, `.dataless`; `.changed`, `.tooFresh` while it is written; what copying throws.
    func copy(of path: RelativePath) throws(StoreError) -> String {
        for attempt in 0..<5 {
            do throws(StoreError) {
                guard case .file(let copy) = try Snapshot.take(tree, path, staging: staging).content else { break }
                return copy
            } catch {
                // Written a moment ago: the same moment would not tell a later write.
                guard error.code == .tooFresh, attempt < 4 else { throw error }
                usleep(20_000)
            }
        }
        throw StoreError(.wrongKind, "\(path) is no file")
    }

    /// At most `limit` bytes from the start of a document.
    ///
    /// - Throws: `.wrongKind`, `.dataless`, `.notFound`, `.permissionDenied`; `.failed` where it cannot be read.
    func beginning(of path: RelativePath, limit: Int) throws(StoreError) -> [UInt8] {
        let file = try tree.openForReading(path)
        guard try Placeholder.mark(of: file, shown: path.description) == .none else {
            throw StoreError(.dataless, "the content of \(path) is not here")
        }
        let size = min(limit, max(0, Int(try file.status().size)))
        do throws(QuireError) {
            return try DescriptorReading.beginning(of: file.rawValue, limit: size)
        } catch {
            throw StoreError(.failed, "\(path) cannot be read: \(error)")
        }
    }

    /// Whether the document's content is, by size and time, the one that the index tells of.
    func isStill(_ path: RelativePath, size: Int64, mtime: FileTime) throws(StoreError) -> Bool {
        let now = try tree.status(at: path)
        return now?.size == size && now?.mtime == mtime
    }
}
