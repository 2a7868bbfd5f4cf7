/// What the driver asks of the rest of the daemon. It knows neither index nor sync engine, only these.
package protocol ContentSource: Sendable {
    /// Brings the content of the dataless file at `path` here; shared by all who ask for the same file.
    ///
    /// Returns when content is in the store, under the same name; throws when it cannot be had now. Cancelling the task
    /// ends this caller's wait, not the download others wait for.
    /// - Parameter inode: the placeholder's inode in the store.
    func materialize(path: RelativePath, inode: UInt64) async throws(MaterializeError)

    /// The content of the dataless file at `path`, to be read as it arrives, once its first bytes are here; nil where it comes
    /// whole or not at all, which `materialize` finds out.
    ///
    /// - Parameter inode: as for `materialize`.
    func open(path: RelativePath, inode: UInt64) async throws(MaterializeError) -> (any ArrivingContent)?
}

/// The content of a document that comes here as it is read, for one who reads it. While one lives, what has arrived stays.
///
/// All of it is of one version of the document. Callable from any thread.
package protocol ArrivingContent: AnyObject, Sendable {
    /// The placeholder's inode in the store.
    var inode: UInt64 { get }
    /// In bytes.
    var size: Int64 { get }
    /// Open for reading as long as this lives; holds what `isHere` says and nothing else.
    var descriptor: Int32 { get }

    /// Whether these bytes can be read now. Answers at once; where the reader goes on as before, what it will read next is
    /// brought meanwhile.
    func isHere(_ range: Range<Int64>) -> Bool

    /// Returns when these bytes can be read. Cancelling the task ends this wait.
    ///
    /// - Throws: ESTALE where the provider has another version by now: no byte of that is mixed into this one.
    func bring(_ range: Range<Int64>) async throws(MaterializeError)
}

/// Why content did not come.
package struct MaterializeError: Error, Sendable {
    /// What the program that opened the file gets: ENETUNREACH, ETIMEDOUT, ENOSPC, ENOENT, ESTALE, EIO, EINTR.
    package var errno: Int32
    package var message: String
    /// Trying again later may succeed without anybody's doing.
    package var isPassing: Bool

    package init(errno: Int32, message: String, isPassing: Bool = true) {
        self.errno = errno
        self.message = message
        self.isPassing = isPassing
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
