import QuireCore

/// A file that the kernel knows: what a FUSE node id stands for.
///
/// The node id is the address of this object; the table keeps it alive until the kernel has forgotten it. A node knows
/// its file by inode and by (directory, name), never by an open descriptor, so that a million nodes need no descriptors.
///
///     node id ──▶ Node ── names[0] ──▶ (parent Node, "letter.txt")
///                   ├── inode            the store's
///                   └── details (of few)
///                         ├── names[1] ──▶ (other Node, "hard link.txt")
///                         ├── files      open handles; any of them reaches the file without a name
///                         └── orphan     a descriptor, once the last name is gone and somebody still holds the file
///
/// All variable properties are guarded by the lock of the `NodeTable` that made it.
final class Node: @unchecked Sendable {
    // Guarded by NodeTable.state.

    /// The store's inode. Changes when the sync engine puts another file under the same name.
    var inode: UInt64
    /// How often the kernel was given this node and has not yet forgotten it.
    var lookups: UInt64 = 0
    /// The latest name, and the directory it is in; nil for the root, and after the last name was removed.
    private var directory: Node?
    private var name: CompactName?
    /// For directories: a cached descriptor, and whether it was used since the cache last looked.
    var descriptor: Descriptor?
    /// What few nodes have at any time.
    private(set) var details: NodeDetails?
    var descriptorWasUsed = false
    let isDirectory: Bool
    /// Whether it is known to have no `security.capability`, which the kernel asks for before the first write.
    var hasNoCapability = false
    /// Whether it is known to have no extended attributes at all.
    var hasNoAttributes = false
    /// For directories: whether the kernel may have been told its attributes since they last changed.
    var attributesWereTold = false
    /// For directories: made by the driver's own call, and no program has asked for it since. So none watches it.
    var isUnseen = false
    /// For files: whether a handle was opened since the kernel was last told to drop the pages it may have.
    var wasOpened = false
    /// For files: whether the kernel, by passthrough, wrote past pages that it may have of an earlier time.
    var pagesMayBeStale = false
    /// For files: whether the kernel was told of more than one name.
    var hadOtherNames = false
    /// Whether setuid or setgid may be set, so that a write by an ordinary user has to strip them.
    var mayHavePrivilegeBits = false

    init(inode: UInt64, isDirectory: Bool, at entry: Entry?) {
        self.inode = inode
        self.isDirectory = isDirectory
        if let entry { addName(entry) }
    }

    /// The details, made where there are none yet; `dropDetails` when they are over.
    func makeDetails() -> NodeDetails {
        if let details { return details }
        let made = NodeDetails()
        details = made
        return made
    }

    /// Forgets details that say nothing.
    func dropDetails() {
        if let details, details.isEmpty { self.details = nil }
    }

    /// What the kernel calls it. The root is `FUSE_ROOT_ID`; see `NodeTable.node(_:)`.
    var address: UInt64 { UInt64(UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque())) }

    // MARK: Names

    /// The name that was met last, nil when there is none.
    var latestName: Entry? {
        guard let directory, let fileName = name?.fileName else { return nil }
        return Entry(directory: directory, name: fileName)
    }

    /// All names it is known under, the latest first.
    var names: [Entry] { latestName.map { [$0] + (details?.otherNames ?? []) } ?? [] }

    var hasName: Bool { directory != nil }

    /// Whether `entry` is one of its names.
    func isNamed(_ entry: Entry) -> Bool {
        if directory === entry.directory, name?.matches(entry.name) == true { return true }
        return details?.otherNames.contains(entry) ?? false
    }

    /// One more name, the latest. A directory has one only: its former is over.
    ///
    /// By these names everybody climbs to the root, so they never close a circle; see `cutCircle`.
    func addName(_ entry: Entry) {
        if isDirectory {
            guard cutCircle(to: entry.directory) else { return }
            removeNames()
        } else if let latestName {
            makeDetails().otherNames.insert(latestName, at: 0)
        }
        directory = entry.directory
        name = CompactName(entry.name)
    }

    /// Sees to it that the names above `target` do not lead through this directory, which has been met in there.
    ///
    /// They do where directories were moved in the store beside the driver. The one of them through which they come here has
    /// another place, which is not known: it has no name until it is looked up anew.
    ///
    /// - Returns: false for the directory itself, which its file system shows there once more (a bind mount).
    private func cutCircle(to target: Node) -> Bool {
        guard target !== self else { return false }
        var below = target
        while let above = below.directory {
            if above === self {
                below.removeNames()
                break
            }
            below = above
        }
        return true
    }

    /// One name less. It need not be one of its names.
    func removeName(_ entry: Entry) {
        details?.otherNames.removeAll { $0 == entry }
        if directory === entry.directory, name?.matches(entry.name) == true {
            let next = details.flatMap { $0.otherNames.isEmpty ? nil : $0.otherNames.removeFirst() }
            directory = next?.directory
            name = next.map { CompactName($0.name) }
        }
        dropDetails()
    }

    func removeNames() {
        directory = nil
        name = nil
        details?.otherNames = []
        dropDetails()
    }
}

/// A place in a directory: what a name of a file, and each end of a rename, is.
struct Entry: Equatable, Sendable {
    let directory: Node
    let name: FileName

    static func == (left: Entry, right: Entry) -> Bool { left.directory === right.directory && left.name == right.name }
}
