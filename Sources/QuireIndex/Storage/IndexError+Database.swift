import GRDB

extension IndexError {
    /// What a database error means; an error of the index's own is itself.
    init(_ error: any Error, _ what: String) {
        if let own = error as? IndexError {
            self = own
            return
        }
        guard let database = error as? DatabaseError else {
            self.init(.failed, "the index failed at \(what)", cause: "\(error)")
            return
        }
        let cause = "\(database)"
        switch database.resultCode {
        case .SQLITE_FULL:
            self.init(.noSpace, "the disk is full: \(what) is not recorded yet. Free some space", cause: cause)
        case .SQLITE_CORRUPT, .SQLITE_NOTADB:
            self = .damaged(cause: cause)
        case _ where Self.readingCodes.contains(database.extendedResultCode):
            self.init(.failed, "the disk cannot read what the index needs for \(what)", cause: cause)
            isOfReading = true
        default: self.init(.failed, "the index failed at \(what)", cause: cause)
        }
        isOfDisk = Self.diskCodes.contains(database.resultCode)
    }

    /// The file is no index any more.
    static func damaged(cause: String?) -> IndexError {
        IndexError(
            .corrupt, "the index is damaged; it is built anew from the drive's documents. Ask again in a moment",
            cause: cause)
    }

    /// The file of documents' words is damaged.
    static func wordsDamaged(cause: String?) -> IndexError {
        IndexError(
            .corrupt, "the words of documents are damaged: `quire unmount` and `quire mount` has them read anew",
            cause: cause)
    }

    /// Damage was met again though the index was found whole a moment ago: it is that of the words, most probably.
    static func damagedStill(cause: String?) -> IndexError {
        IndexError(
            .corrupt,
            "the words of documents, or the index, are damaged: `quire unmount` and `quire mount` has what is damaged "
                + "made anew", cause: cause)
    }

    /// What was read as damaged, and is whole when it is read anew.
    static func passed(cause: String?) -> IndexError {
        var error = IndexError(
            .failed, "the disk could not read the index for a moment; it is tried again", cause: cause)
        error.isOfDisk = true
        return error
    }

    /// As `damaged`, where no other file can be begun.
    static func notReplaced(because obstacle: IndexError) -> IndexError {
        IndexError(
            .corrupt, "the index is damaged and cannot be built anew yet: \(obstacle.message)", cause: obstacle.cause)
    }

    /// As `damaged`, where building it anew has not helped.
    static func damagedAgain(cause: String?) -> IndexError {
        IndexError(
            .corrupt,
            "the index was damaged again and again: the disk or the memory may be failing. See to that, then "
                + "`quire unmount` and `quire mount`, which builds it anew", cause: cause)
    }

    /// Of a sector that is gone, and of one that the file system does not give since its checksum is another. Within a statement
    /// SQLite says `SQLITE_CORRUPT` for EIO, elsewhere and for other errors it does not.
    private static let readingCodes: [ResultCode] = [
        .SQLITE_IOERR_READ, .SQLITE_IOERR_SHORT_READ, .SQLITE_IOERR_CORRUPTFS,
    ]

    private static let diskCodes: [ResultCode] = [
        .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_NOMEM, .SQLITE_READONLY,
        .SQLITE_PERM, .SQLITE_PROTOCOL,
    ]
}
