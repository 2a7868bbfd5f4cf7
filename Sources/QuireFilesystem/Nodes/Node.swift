import QuireCore

/// A file that the kernel knows: what a FUSE node id stands for.
///
/// The node id is the address of this object; the table keeps it alive until the kernel has forgotten it. A node knows
/// its file by inode and by (directory, name), never by an open descriptor, so that a million nodes need no descriptors.
///
///     node id ──▶ Node ── names[0] ──▶ (parent Node, "letter.txt")
///                   │      names[1] ──▶ (other Node, "hard link.txt")
///                   ├── inode            the store's
///                   ├── files            open handles; any of them reaches the file without a name
///                   └── orphan           a descriptor, once the last name is gone and somebody still holds the file
///
/// All variable properties are guarded by the lock of the `NodeTable` that made it.
final class Node: @unchecked Sendable {
    // Guarded by NodeTable.state.

    /// How the kernel reads and writes the open file: all handles of one inode alike.
    enum DataPath: Equatable {
        /// No handle is open.
        case undecided
        /// Through the page cache and this process.
        case cached
        /// In the kernel, through this backing id.
        case passthrough(CInt)

        var isPassthrough: Bool { if case .passthrough = self { true } else { false } }
    }

    /// The store's inode. Changes when the sync engine puts another file under the same name.
    var inode: UInt64
    let isDirectory: Bool
    /// What programs are told instead of `inode`; nil: that. A file that was dataless when the kernel first met it keeps its
    /// number when the content arrives in another inode: `cp` refuses a file whose number changes under it. Never a number
    /// that the store uses, so no two files look like one.
    var shownInode: UInt64?
    /// The names it is known under, the latest first; empty for the root, and after the last was removed.
    var names: [Entry]
    /// How often the kernel was given this node and has not yet forgotten it.
    var lookups: UInt64 = 0
    var files: [OpenFile] = []
    var writers = 0
    var dataPath = DataPath.undecided
    /// For directories: a cached descriptor, and whether it was used since the cache last looked.
    var descriptor: Descriptor?
    var descriptorWasUsed = false
    /// For a file without a name that the kernel still holds.
    var orphan: Descriptor?
    /// The fingerprint that the last event about this file carried.
    var reported: Fingerprint?
    /// Whether it is known to have no `security.capability`, which the kernel asks for before the first write.
    var hasNoCapability = false
    /// Whether it is known to have no extended attributes at all.
    var hasNoAttributes = false
    /// Whether setuid or setgid may be set, so that a write by an ordinary user has to strip them.
    var mayHavePrivilegeBits = false

    init(inode: UInt64, isDirectory: Bool, names: [Entry]) {
        self.inode = inode
        self.isDirectory = isDirectory
        self.names = names
    }

    /// What the kernel calls it. The root is `FUSE_ROOT_ID`; see `NodeTable.node(_:)`.
    var address: UInt64 { UInt64(UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque())) }
}

/// A place in a directory: what a name of a file, and each end of a rename, is.
struct Entry: Equatable, Sendable {
    let directory: Node
    let name: FileName

    static func == (left: Entry, right: Entry) -> Bool { left.directory === right.directory && left.name == right.name }
}
