import GRDB
package import QuireCore

/// An upload that was begun and not acknowledged.
package struct UnansweredUpload: Sendable, Hashable {
    package var intent: UploadIntent
    /// When it was begun.
    package var since: FileTime
    /// Unique as long as the index file is.
    package let row: Int64
}

extension MetadataIndex {
    /// The container's uploads that were begun and not acknowledged, oldest first: those under way, and those whose answer was
    /// lost.
    package func unansweredUploads(_ container: ContainerID) async throws(IndexError) -> [UnansweredUpload] {
        try await read("uploads") { db in
            try db.all(
                """
                SELECT id, item, path, kind, size, checksum, inode, bytes, mtime, ctime, since FROM uploads \
                WHERE container = ? ORDER BY id
                """, .text(container.rawValue)
            ) { UnansweredUpload($0, container) }.compactMap(\.self)
        }
    }

    /// Forgets one: it never arrived, or the provider has something else by now.
    package func forget(_ upload: UnansweredUpload) async throws(IndexError) {
        try await write("forgetting an upload") { db in
            try db.run("DELETE FROM uploads WHERE id = ?", .integer(upload.row))
        }
    }
}

extension UnansweredUpload {
    fileprivate init?(_ row: SQLRow, _ container: ContainerID) {
        guard let checksum = ContentChecksum(bytes: row.blob(5)) else { return nil }
        let kind = FileKind(code: row.integer(3))
        self.init(
            intent: UploadIntent(
                item: ItemID(row.integer(1)), container: container, path: RelativePath(unchecked: row.blob(2)),
                kind: kind, size: ByteCount(row.integer(4)), checksum: checksum,
                fingerprint: Fingerprint(
                    inode: UInt64(bitPattern: row.integer(6)), size: row.integer(7),
                    mtime: FileTime(nanoseconds: row.integer(8)), ctime: FileTime(nanoseconds: row.integer(9)),
                    kind: kind)),
            since: FileTime(nanoseconds: row.integer(10)), row: row.integer(0))
    }
}
