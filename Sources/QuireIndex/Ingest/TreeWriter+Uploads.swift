import GRDB
import QuireCore

/// Uploads that were begun: rows of `uploads`.
extension TreeWriter {
    /// An upload begins. Earlier ones of the item stay: which of them arrived is not known. Of those of the same content to the
    /// same place the first and the last do.
    func insert(_ intent: UploadIntent) throws {
        let state = intent.fingerprint
        let isSame = "item = ?1 AND container = ?2 AND path = ?3 AND size = ?4 AND checksum = ?5"
        try db.run(
            "DELETE FROM uploads WHERE \(isSame) AND id > (SELECT min(id) FROM uploads WHERE \(isSame))",
            .integer(intent.item.rawValue), .text(intent.container.rawValue), .blob(intent.path.bytes),
            .integer(intent.size.bytes), .blob(intent.checksum.bytes))
        try db.run(
            """
            INSERT INTO uploads (item, container, path, kind, size, checksum, inode, bytes, mtime, ctime, since) \
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, .integer(intent.item.rawValue), .text(intent.container.rawValue), .blob(intent.path.bytes),
            .integer(intent.kind.code), .integer(intent.size.bytes), .blob(intent.checksum.bytes),
            .integer(Int64(bitPattern: state.inode)), .integer(state.size), .integer(state.mtime.nanoseconds),
            .integer(state.ctime.nanoseconds), .integer(now))
    }

    /// What was at `from` at the provider, with all below it, is at `to`.
    func moveIntents(_ container: ContainerID, from: RelativePath, to: RelativePath) throws {
        let uploads = try db.all("SELECT id, path FROM uploads WHERE container = ?", .text(container.rawValue)) {
            (id: $0.integer(0), path: RelativePath(unchecked: $0.blob(1)))
        }
        for upload in uploads {
            guard let rest = upload.path.removing(ancestor: from) else { continue }
            try db.run(
                "UPDATE uploads SET path = ? WHERE id = ?", .blob(to.appending(rest).bytes), .integer(upload.id))
        }
    }

    /// What the provider has of the item is known.
    func deleteIntents(of item: ItemID) throws {
        try db.run("DELETE FROM uploads WHERE item = ?", .integer(item.rawValue))
    }
}
