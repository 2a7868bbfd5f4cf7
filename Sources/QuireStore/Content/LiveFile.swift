import CLinux
import Glibc
package import QuireCore

/// A file of the store that is held open to be sent without a copy, with proof of which state was read.
///
/// The proof: nobody had it open for writing when its fingerprint was taken, which was not racy, and it is the same after
/// all was read. Every later write changes the fingerprint, the first one through a mapping made since, too; a mapping
/// that was there before would hold the file open for writing.
package final class LiveFile: Sendable {
    /// When it was opened.
    package let status: FileStatus
    private let tree: DriveTree
    private let item: RelativePath
    private let descriptor: OwnedDescriptor

    /// Absolute path that leads to this file as long as the object lives, whatever becomes of its name.
    package var path: String { "/proc/self/fd/\(descriptor.rawValue)" }
    /// Which state is read, if it is one.
    package var fingerprint: Fingerprint { status.fingerprint }

    /// Opens the file at `path`, fsynced as for a snapshot. Blocks for as long as the disk takes.
    ///
    /// - Returns: nil where somebody may write to it unnoticed, or where it is no file with content: that is a snapshot's.
    /// - Throws: `.tooFresh`; `.notFound`; `.failed`.
    package static func open(
        _ tree: DriveTree, _ path: RelativePath, now: () -> FileTime = WallClock.now
    ) throws(StoreError) -> LiveFile? {
        guard try tree.requiredStatus(at: path).kind == .file else { return nil }
        let source = try tree.openForReading(path)
        try source.sync(path.description)
        guard quire_has_writers(source.rawValue) == 0 else { return nil }
        let status = try Snapshot.settled(source, path, now)
        guard status.size <= Snapshot.largest, try !Snapshot.isDataless(source, status, path) else { return nil }
        return LiveFile(tree, path, source, status)
    }

    private init(_ tree: DriveTree, _ item: RelativePath, _ descriptor: consuming OwnedDescriptor, _ status: FileStatus)
    {
        self.tree = tree
        self.item = item
        self.descriptor = descriptor
        self.status = status
    }

    /// Whether it is the file that it was, and still the one at its path. Blocks.
    package var isUnchanged: Bool {
        guard (try? descriptor.status().fingerprint) == fingerprint else { return false }
        return (try? tree.status(at: item)?.fingerprint) == fingerprint
    }
}
