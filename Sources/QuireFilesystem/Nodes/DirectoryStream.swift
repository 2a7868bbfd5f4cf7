import Glibc

/// A directory of the store that is being listed, and how far.
///
/// Positions are the store's own directory positions, so they stay valid while entries come and go.
final class DirectoryStream: @unchecked Sendable {
    // Used by one thread at a time: who took it from `Listings`, which guards it otherwise.

    let node: Node
    let raw: OpaquePointer
    /// Where the next entry is read.
    var position: off_t = 0

    /// Opens `node` at its start.
    ///
    /// - Parameter directory: a descriptor of it.
    init(_ node: Node, _ directory: Descriptor) throws(DriverError) {
        self.node = node
        raw = try StoreCall.listing(of: directory)
    }

    deinit { closedir(raw) }

    var descriptor: CInt { dirfd(raw) }

    /// Reads next what is at `position`.
    func seek(to position: off_t) {
        seekdir(raw, position)
        self.position = position
    }
}
