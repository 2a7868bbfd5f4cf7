import Glibc
package import QuireCore

extension Snapshot {
    /// As `take`, of a file of at most `limit` bytes, into memory.
    ///
    /// - Returns: nil for what is larger, and for a symlink.
    package static func takeSmall(
        _ tree: DriveTree, _ path: RelativePath, limit: ByteCount, now: () -> FileTime = WallClock.now,
        whenRead: () -> Void = {}
    ) throws(StoreError) -> Snapshot? {
        guard let found = try tree.status(at: path), found.kind == .file, found.size <= limit.bytes else { return nil }
        let source = try tree.openForReading(path)
        try source.sync(path.description)
        let before = try settled(source, path, now)
        guard before.size <= limit.bytes else { return nil }
        if try isDataless(source, before, path) { throw dataless(path) }
        let bytes = try read(source.rawValue, Int(before.size), path)
        whenRead()
        try check(tree, path, before.fingerprint)
        guard try source.status().fingerprint == before.fingerprint else { throw changed(path) }
        return Snapshot(
            content: .bytes(bytes), status: before, size: ByteCount(before.size),
            checksum: ContentHasher.checksum(of: bytes))
    }

    private static func read(_ file: Int32, _ size: Int, _ path: RelativePath) throws(StoreError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: size)
        var done = 0
        while done < size {
            let (start, space) = (done, size - done)
            let count = try systemCall("read", path.description) {
                bytes.withUnsafeMutableBytes { pread(file, $0.baseAddress.map { $0 + start }, space, off_t(start)) }
            }
            guard count > 0 else { throw changed(path) }
            done += count
        }
        return bytes
    }
}
