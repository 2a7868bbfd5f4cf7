import Glibc
package import QuireCore

/// An unchanging copy of an item's content, with proof of which state it is.
///
/// The proof: the fingerprint was the same before and after the copy, and was not racy when the copy began. So a later
/// fingerprint that equals it says that the content has not changed since.
package struct Snapshot: Sendable, Hashable {
    package enum Content: Sendable, Hashable {
        /// Absolute path of the copy in the staging directory; the caller removes it (`Staging.discard`).
        case file(path: String)
        /// Of a small file: `takeSmall`.
        case bytes([UInt8])
        case symlink(target: [UInt8])
    }

    package var content: Content
    /// Of the source, when the copy began. Has the mode and mtime to upload.
    package var status: FileStatus
    package var size: ByteCount
    /// SHA-256 of the copy; for a symlink of its target's bytes.
    package var checksum: ContentChecksum

    /// Which state this is a copy of.
    package var fingerprint: Fingerprint { status.fingerprint }

    /// Copies the file or symlink at `path`.
    ///
    /// The source is fsynced first, so that nothing is uploaded that a power loss would take back. Blocks for as long
    /// as the disk takes: runs on a thread of the caller's own.
    /// - Parameters:
    ///   - isCancelled: asked once a MiB.
    ///   - now: the wall clock, as file times have it.
    ///   - whenCopied: called between the copy and the second look (for tests).
    /// - Throws: `.tooFresh` and `.changed` (both `isRetryable`); `.dataless` for a placeholder; `.notFound`;
    ///   `.wrongKind` for what is neither file nor symlink; `.noSpace`; `.failed` for more than 1 TiB;
    ///   `.cancelled`. Nothing is left in `staging` then.
    package static func take(
        _ tree: DriveTree, _ path: RelativePath, staging: Staging, isCancelled: () -> Bool = { false },
        now: () -> FileTime = WallClock.now, whenCopied: () -> Void = {}
    ) throws(StoreError) -> Snapshot {
        switch try tree.requiredStatus(at: path).kind {
        case .symlink: return try takeLink(tree, path, now: now, whenRead: whenCopied)
        case .file: break
        case .directory, .fifo, .socket, .characterDevice, .blockDevice:
            throw StoreError(.wrongKind, "\(path) is neither a file nor a symlink")
        }
        let source = try tree.openForReading(path)
        try source.sync(path.description)
        let before = try settled(source, path, now)
        if try isDataless(source, before, path) { throw dataless(path) }
        guard before.size <= largest else {
            throw StoreError(
                .failed, "\(path) is larger than \(largest >> 40) TiB",
                remedy: "Documents are uploaded whole; keep a file of this size elsewhere")
        }
        let target = try staging.createFile("snapshot")
        let copy = try copy(of: source, before.fingerprint, to: target.descriptor, path, isCancelled)
        whenCopied()
        try check(tree, path, before.fingerprint)
        guard try source.status().fingerprint == before.fingerprint, copy.size == before.size else {
            throw changed(path)
        }
        return Snapshot(
            content: .file(path: target.keep()), status: before, size: ByteCount(copy.size), checksum: copy.checksum)
    }

    /// As `ContentCopy.copy`, given up as soon as the source is another than it was: the holes of a large file alone can
    /// take hours.
    private static func copy(
        of source: borrowing OwnedDescriptor, _ fingerprint: Fingerprint, to target: borrowing OwnedDescriptor,
        _ path: RelativePath, _ isCancelled: () -> Bool
    ) throws(StoreError) -> ContentCopy.Summary {
        let raw = source.rawValue
        var hasChanged = false
        do throws(StoreError) {
            return try ContentCopy.copy(from: source, to: target, shown: path.description) {
                var status = stat()
                hasChanged = fstat(raw, &status) == 0 && FileStatus(status).fingerprint != fingerprint
                return hasChanged || isCancelled()
            }
        } catch {
            throw hasChanged ? changed(path) : error
        }
    }

    private static func takeLink(
        _ tree: DriveTree, _ path: RelativePath, now: () -> FileTime, whenRead: () -> Void
    ) throws(StoreError) -> Snapshot {
        let start = now()
        let status = try tree.requiredStatus(at: path)
        // A link cannot be written to, but removed and made anew within a tick, with the same inode.
        guard !status.fingerprint.isRacy(takenAt: start) else { throw tooFresh(path) }
        let target = try tree.readLink(path)
        whenRead()
        try check(tree, path, status.fingerprint)
        return Snapshot(
            content: .symlink(target: target), status: status, size: ByteCount(Int64(target.count)),
            checksum: ContentHasher.checksum(of: target))
    }

    /// The item at `path` must still be the one that was read.
    static func check(_ tree: DriveTree, _ path: RelativePath, _ fingerprint: Fingerprint) throws(StoreError) {
        guard try tree.status(at: path)?.fingerprint == fingerprint else { throw changed(path) }
    }

    /// What nobody means to upload: a disk image, or a mistake in an offset.
    static let largest: Int64 = 1 << 40

    /// What an open file has, such that every write from here on changes its fingerprint.
    ///
    /// - Throws: `.tooFresh`.
    static func settled(
        _ source: borrowing OwnedDescriptor, _ path: RelativePath, _ now: () -> FileTime
    ) throws(StoreError) -> FileStatus {
        // The clock is read before the attributes: what is written from here on gets a later time than this.
        let start = now()
        let status = try source.status()
        guard !status.fingerprint.isRacy(takenAt: start) else { throw tooFresh(path) }
        return status
    }

    /// Whether an open file stands for content that is not here.
    static func isDataless(
        _ source: borrowing OwnedDescriptor, _ status: FileStatus, _ path: RelativePath
    ) throws(StoreError) -> Bool {
        guard Placeholder.isCandidate(status) else { return false }
        return try Placeholder.mark(of: source, status, shown: path.description).isDataless
    }

    static func dataless(_ path: RelativePath) -> StoreError {
        StoreError(.dataless, "\(path) is dataless: there is no content to copy")
    }

    static func changed(_ path: RelativePath) -> StoreError {
        StoreError(.changed, "\(path) changed while it was copied")
    }

    static func tooFresh(_ path: RelativePath) -> StoreError {
        StoreError(.tooFresh, "\(path) was written to a moment ago")
    }
}
