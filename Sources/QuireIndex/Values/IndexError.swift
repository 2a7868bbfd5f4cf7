/// Why the index could not do what it was asked.
package struct IndexError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure.
    package enum Code: String, Sendable, CaseIterable {
        /// The index was made by a newer version of Quire.
        case newerSchema
        /// The file is damaged; it is set aside and a new one built, at once where it is open for long, otherwise at the next start.
        case corrupt
        /// The disk is full; what was recorded is kept in memory and retried.
        case noSpace
        /// The drive's directory is not there.
        case storeMissing
        /// The index was closed.
        case closed
        /// Any other failure of the disk or of SQLite.
        case failed
    }

    package let code: Code
    /// Names what failed, and the remedy.
    package let message: String
    /// The error beneath, as text.
    package let cause: String?
    /// Whether the same may succeed when the disk is better.
    var isOfDisk = false
    /// Whether the disk did not read what is there: damage as much as any, if it does not on being asked again.
    var isOfReading = false

    package init(_ code: Code, _ message: String, cause: String? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    package var description: String { cause.map { "\(message) (\($0))" } ?? message }
}
