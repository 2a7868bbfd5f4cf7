/// What the driver asks of the rest of the daemon. It knows neither index nor sync engine, only these.
package protocol ContentSource: Sendable {
    /// Brings the content of the dataless file at `path` here; shared by all who ask for the same file.
    ///
    /// Returns when content is in the store, under the same name; throws when it cannot be had now. Cancelling the task
    /// ends this caller's wait, not the download others wait for.
    /// - Parameter inode: the placeholder's inode in the store.
    func materialize(path: RelativePath, inode: UInt64) async throws(MaterializeError)
}

/// Why content did not come.
package struct MaterializeError: Error, Sendable {
    /// What the program that opened the file gets: ENETUNREACH, ETIMEDOUT, ENOSPC, ENOENT, EIO, EINTR.
    package var errno: Int32
    package var message: String

    package init(errno: Int32, message: String) {
        self.errno = errno
        self.message = message
    }
}

/// Answers for the virtual extended attributes under `user.quire.`.
package protocol ItemAttributeSource: Sendable {
    /// The value of `user.quire.<name>` for the item at `path`; nil where there is no such attribute. Never a network trip.
    func attribute(_ name: String, at path: RelativePath) async -> [UInt8]?

    /// The names (without `user.quire.`) that the item at `path` has.
    func attributeNames(at path: RelativePath) async -> [String]

    /// Whether the file with this inode in the store may have tags; false where it has none. Answers at once.
    func mayHaveTags(inode: UInt64) -> Bool

    /// Sets a writable one (`pinned`, `tags`). Returns 0 or an errno (EPERM for one that is read-only).
    func setAttribute(_ name: String, to value: [UInt8]?, at path: RelativePath) async -> Int32
}
