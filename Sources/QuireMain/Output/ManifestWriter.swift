import Glibc
import QuireCommandLine
import QuireCore
import QuireStore
import Synchronization

/// Writes the lines of a manifest, reading the files whose content is here.
final class ManifestWriter: Sendable {
    private let tree: DriveTree
    private let base: RelativePath
    private let failed = Lock(false)

    /// - Parameters:
    ///   - root: the mountpoint, or the store while the drive is not mounted.
    ///   - base: what printed paths are relative to.
    init(root: String, base: RelativePath) throws(QuireError) {
        do {
            tree = try DriveTree(opening: root)
        } catch {
            throw QuireError(.unavailable, "\(error)")
        }
        self.base = base
    }

    /// Whether a file could not be read.
    var hasFailed: Bool { failed.withLock { $0 } }

    func write(_ entry: ItemMethods.Manifest.Entry) {
        let path = entry.path.path
        do {
            let checksum = if let known = entry.checksum, entry.dataless { known } else { try read(path) }
            Output.write(ManifestLine.bytes(checksum, path: (path.removing(ancestor: base) ?? path).bytes))
        } catch {
            Output.message("\(path): \(error)")
            failed.withLock { $0 = true }
        }
    }

    private func read(_ path: RelativePath) throws(StoreError) -> ContentChecksum {
        try ContentCopy.checksum(of: tree.openForReading(path), shown: path.description).checksum
    }
}
