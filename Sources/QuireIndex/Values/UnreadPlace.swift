import Glibc
package import QuireCore

/// A directory of the store that could not be compared with the index, or not all of it.
///
/// What could not be looked at counts neither as missing nor as moved nor as changed, and the directory does not count as
/// compared. It is looked at again every minute, and when its attributes change; once it can be read, everything is
/// compared anew.
package struct UnreadPlace: Sendable, Hashable {
    /// What the system did not do.
    package enum Failure: Sendable, Hashable {
        /// Tell what is there.
        case looking
        /// Have a file that may have lost its mark as a placeholder be read, and marked again.
        case renewing
    }

    /// The directory.
    package var directory: ItemID
    /// Of the directory, or of what could not be looked at in it (the first, where there are several); below the drive's
    /// root.
    package var path: RelativePath
    /// What the system did not tell of: that, or where an entry in the directory may come from.
    package var cause: RelativePath
    package var failure: Failure = .looking
    /// Nothing in the directory could be looked at, so nothing below it.
    package var isWhole: Bool
    package var errno: Int32
    package var since: FileTime

    /// Whether nothing can be said of what is in `directory`, a path below the drive's root.
    package func covers(_ directory: RelativePath) -> Bool {
        isWhole ? directory.isInside(path) : directory == path.parent
    }

    /// For people.
    package var message: String {
        let reason = String(cString: strerror(errno))
        let failed =
            switch failure {
            case .looking: "cannot be looked at (\(reason))"
            case .renewing: "has lost its mark as a document that is not here, and cannot get it again (\(reason))"
            }
        let what = cause == path ? failed : "may have to do with \(cause), which \(failed)"
        let place = cause == path && failure == .looking ? "it" : "its directory"
        return "\(what): nothing in \(place) counts as deleted or changed here, and nothing is brought to it, until "
            + "that can be. It is tried again every minute"
    }
}
