/// What tells cheaply whether a file may have changed: inode, size, mtime, ctime, kind (design, rule 3).
///
/// Equal fingerprints prove equality only when neither is racy: timestamps advance by kernel ticks, so a second write
/// in the same tick can leave all five as they were.
package struct Fingerprint: Sendable, Hashable, Codable {
    package var inode: UInt64
    package var size: Int64
    package var mtime: FileTime
    package var ctime: FileTime
    package var kind: FileKind

    package init(inode: UInt64, size: Int64, mtime: FileTime, ctime: FileTime, kind: FileKind) {
        self.inode = inode
        self.size = size
        self.mtime = mtime
        self.ctime = ctime
        self.kind = kind
    }

    /// Two ticks of the slowest common kernel clock (100 Hz).
    package static let racyWindowNanoseconds: Int64 = 20_000_000

    /// Whether this fingerprint, taken at `now`, proves nothing yet: the file changed less than two ticks before.
    ///
    /// A time well after `now` (the clock was set back, or `touch` was used) is not racy: the next write gets another
    /// one.
    package func isRacy(takenAt now: FileTime) -> Bool {
        [mtime, ctime].contains { time in
            let (age, overflow) = now.nanoseconds.subtractingReportingOverflow(time.nanoseconds)
            return !overflow && age.magnitude < Self.racyWindowNanoseconds.magnitude
        }
    }
}
