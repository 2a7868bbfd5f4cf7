import GRDB

extension IndexError {
    /// What a database error means.
    init(_ error: any Error, _ what: String) {
        guard let database = error as? DatabaseError else {
            self.init(.failed, "the index failed at \(what)", cause: "\(error)")
            return
        }
        let cause = "\(database)"
        switch database.resultCode {
        case .SQLITE_FULL:
            self.init(.noSpace, "the disk is full: \(what) is not recorded yet. Free some space", cause: cause)
        case .SQLITE_CORRUPT, .SQLITE_NOTADB:
            self.init(.corrupt, "the index is damaged; it is rebuilt when Quire is started again", cause: cause)
        default: self.init(.failed, "the index failed at \(what)", cause: cause)
        }
        isOfDisk = Self.diskCodes.contains(database.resultCode)
    }

    private static let diskCodes: [ResultCode] = [
        .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_NOMEM, .SQLITE_READONLY,
        .SQLITE_PERM, .SQLITE_PROTOCOL,
    ]
}
