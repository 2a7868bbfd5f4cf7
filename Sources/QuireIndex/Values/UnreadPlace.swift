import Glibc
package import QuireCore

/// A directory of the store that could not be compared with the index, or not all of it.
///
/// What could not be looked at counts neither as missing nor as moved nor as changed, and the directory does not count as
/// compared. It is looked at again every minute, and when its attributes change; once it can be read, everything is
/// compared anew.
package struct UnreadPlace: Sendable, Hashable {
    /// The directory.
    package var directory: ItemID
    /// Of the directory, or of what could not be looked at in it (the first, where there are several); below the drive's
    /// root.
    package var path: RelativePath
    /// What the system did not tell of: that, or where an entry in the directory may come from.
    package var cause: RelativePath
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
        "cannot be looked at (\(String(cString: strerror(errno)))): nothing in it counts as deleted or changed here, and "
            + "nothing is brought to it, until it can be. It is tried again every minute"
    }
}
