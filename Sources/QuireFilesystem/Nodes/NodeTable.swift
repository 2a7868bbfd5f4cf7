import CFuse
import Glibc
import QuireCore
import Synchronization

/// All files that the kernel knows, by node id and by inode.
///
/// One lock guards the table and every node; it is held for short, synchronous work only: no system call but a look at the
/// status of a file that is open, no reply to the kernel, no callback. Inside it only the locks of the event queue and of the
/// watched mappings are taken, where these say what the table says.
final class NodeTable: Sendable {
    struct State {
        var byInode = InodeTable()
        /// Directories with a cached descriptor, oldest first (second chance).
        var cachedDirectories: [Node] = []
        /// Handles that are open, of all nodes.
        var openFiles = 0
        /// Files with an open write handle.
        var writing: [ObjectIdentifier: Node] = [:]
        /// For `Node.shownInode`; no file system hands out numbers of this size.
        var nextShownInode: UInt64 = 1 << 62

        /// How many nodes there were at most since much was forgotten last.
        private var mostNodes = 0

        /// Notes that a node went; true when that makes a large part of what there was.
        fileprivate mutating func hasForgottenMuch() -> Bool {
            mostNodes = max(mostNodes, byInode.count + 1)
            guard mostNodes - byInode.count >= 50_000, byInode.count < mostNodes / 2 else { return false }
            mostNodes = byInode.count
            return true
        }

        /// A number for a file that will change its inode.
        mutating func makeShownInode() -> UInt64 {
            defer { nextShownInode += 1 }
            return nextShownInode
        }
    }

    private let changes = Atomic<UInt>(0)
    let root: Node
    let rootDescriptor: Descriptor
    let listings = Listings()
    /// Whether the store is on something slower than memory: syncing and removing may take long.
    let isOnDisk: Bool
    /// Where removing takes long.
    let closer: DescriptorCloser?
    private let state: Lock<State>
    /// How many directory descriptors are kept.
    let descriptorLimit: Int
    /// How much programs may have open.
    let handles: HandleBudget
    let mappings: LingeringMappings
    /// An element each time that much was forgotten at once: memory can be given back.
    let forgotten: AsyncStream<Void>
    private let hasForgotten: AsyncStream<Void>.Continuation

    /// - Parameters:
    ///   - rootDescriptor: the store's root directory.
    ///   - descriptorLimit: how many directory descriptors may be cached; 1 or more.
    ///   - descriptors: how many descriptors the process may have.
    init(rootDescriptor: Descriptor, rootInode: UInt64, descriptorLimit: Int, descriptors: Int) {
        self.handles = HandleBudget(descriptors: descriptors, cache: descriptorLimit)
        self.mappings = LingeringMappings(limit: handles.reserve / 2)
        self.rootDescriptor = rootDescriptor
        self.isOnDisk = !StoreCall.isInMemory(rootDescriptor)
        self.closer = isOnDisk ? DescriptorCloser() : nil
        self.descriptorLimit = max(1, descriptorLimit)
        (forgotten, hasForgotten) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.root = Node(inode: rootInode, isDirectory: true, at: nil)
        self.root.lookups = 1
        self.root.descriptor = rootDescriptor
        var initial = State()
        initial.byInode[rootInode] = root
        self.state = Lock(initial)
    }

    /// The node behind a kernel's node id. The kernel only names nodes it was given and has not forgotten.
    func node(_ id: UInt64) -> Node {
        if id == UInt64(FUSE_ROOT_ID) { return root }
        guard let pointer = UnsafeRawPointer(bitPattern: UInt(id)) else { return root }
        return Unmanaged<Node>.fromOpaque(pointer).takeUnretainedValue()
    }

    /// What the kernel calls `node`.
    func identifier(_ node: Node) -> UInt64 { node === root ? UInt64(FUSE_ROOT_ID) : node.address }

    /// The node of a file in the store, nil where the kernel does not know it.
    func known(_ inode: UInt64) -> Node? { locked { $0.byInode[inode] } }

    /// What the kernel calls the files that are open for writing.
    var writing: [UInt64] { locked { $0.writing.values.map(identifier) } }

    /// Runs `body` with the table locked.
    func locked<Result: ~Copyable>(_ body: (inout State) -> sending Result) -> sending Result {
        state.withLock { body(&$0) }
    }

    /// As `lookUp`, for an entry that was just made. Also tells the directory's inode.
    func lookUpNew(_ status: FileStatus, in directory: Node, name: FileName) -> (Node, directory: UInt64) {
        locked { state in
            let node = Self.lookUp(status, in: directory, name: name, root, &state)
            // A new file has none; another name of an old one changes nothing.
            if node.lookups == 1, status.linkCount <= 1 { node.hasNoCapability = true }
            return (node, directory.inode)
        }
    }

    /// The node of a file that was just made and has no name.
    func lookUpNameless(_ status: FileStatus) -> Node {
        locked { state in
            let node = Node(inode: status.inode, isDirectory: false, at: nil)
            state.byInode[status.inode] = node
            node.hasNoCapability = true
            node.lookups = 1
            _ = Unmanaged.passRetained(node)
            return node
        }
    }

    /// The node for the file found at (`directory`, `name`), which the kernel is about to be given once more.
    func lookUp(_ status: FileStatus, in directory: Node, name: FileName) -> Node {
        locked { Self.lookUp(status, in: directory, name: name, root, &$0) }
    }

    private static func lookUp(
        _ status: FileStatus, in directory: Node, name: FileName, _ root: Node, _ state: inout State
    ) -> Node {
        let entry = Entry(directory: directory, name: name)
        let node: Node
        if let known = state.byInode[status.inode], known.isDirectory == (status.kind == .directory) {
            node = known
            if node !== root, !node.isNamed(entry) {
                if status.linkCount <= 1, !node.isDirectory { node.removeNames() }
                node.addName(entry)
            }
        } else {
            node = Node(inode: status.inode, isDirectory: status.kind == .directory, at: entry)
            state.byInode[status.inode] = node
        }
        node.isMet(at: entry)
        node.mayHavePrivilegeBits = status.mode & 0o6000 != 0
        node.isUnseen = false
        if node.lookups == 0 { _ = Unmanaged.passRetained(node) }
        node.lookups += 1
        return node
    }

    /// How many changes of what is in directories there were so far: what `shown` needs to know from before its status.
    var moment: UInt { changes.load(ordering: .sequentiallyConsistent) }

    /// Something in `directory` has changed, and with it its times and link count.
    ///
    /// - Returns: whether the kernel has to be told.
    func changed(_ directory: Node) -> Bool {
        changes.add(1, ordering: .sequentiallyConsistent)
        return locked { _ in
            defer { directory.attributesWereTold = false }
            return directory.attributesWereTold
        }
    }

    /// The file's attributes as programs are told them.
    ///
    /// - Parameter moment: from before `status` was asked for. A directory in which something changed since then is not
    ///   kept by the kernel: see `Driver.contentsChanged`. Nil for what cannot have changed since.
    func shown(_ status: stat, of node: Node, asOf moment: UInt? = nil) -> ShownAttributes {
        let (inode, holds, arrival) = locked { _ in
            if node.isDirectory {
                node.attributesWereTold = true
            } else if status.st_nlink > 1 {
                node.hadOtherNames = true
            }
            let isWritten = node.writers > 0 && node.dataPath.isPassthrough || mappings.mayChange(node.inode)
            let holds = !isWritten && !node.hadOtherNames
            return (node.shownInode, holds, node.arrival)
        }
        // In this order: who changes the directory from now on sees that it was told.
        let mayBeKept = holds && (!node.isDirectory || moment == nil || moment == self.moment)
        var shown = ShownAttributes(status: arrival?.shown(status) ?? status, mayBeKept: mayBeKept)
        if let inode { shown.status.st_ino = ino_t(inode) }
        return shown
    }

    /// Counts a new open handle in. Call with the table locked.
    func enter(_ file: OpenFile, _ state: inout State) {
        let node = file.node
        let details = node.makeDetails()
        details.enter(file)
        node.wasOpened = true
        state.openFiles += 1
        handles.take(file.descriptors)
        guard file.isWriter else { return }
        details.writers += 1
        if file.opensForReading { details.mayBeMapped = true }
        if details.writers == 1 { state.writing[ObjectIdentifier(node)] = node }
    }

    /// Counts a handle out. Call with the table locked.
    func leave(_ file: OpenFile, _ state: inout State) {
        let node = file.node
        guard let details = node.details else { return }
        details.leave(file)
        state.openFiles -= 1
        handles.giveBack(file.descriptors)
        guard file.isWriter else { return }
        details.writers -= 1
        if details.writers == 0 { state.writing[ObjectIdentifier(node)] = nil }
    }

    /// The kernel gives back `count` of the times it was given `node`.
    func forget(_ node: Node, _ count: UInt64) {
        guard node !== root else { return }
        // What is dropped here may close descriptors, so it outlives the lock.
        var dropped: Descriptor?
        var orphan: Descriptor?
        let isMuch = locked { state in
            node.lookups -= min(count, node.lookups)
            guard node.lookups == 0 else { return false }
            if state.byInode[node.inode] === node { state.byInode[node.inode] = nil }
            dropped = node.descriptor
            orphan = node.orphan
            if node.descriptor != nil { state.cachedDirectories.removeAll { $0 === node } }
            node.descriptor = nil
            node.details?.orphan = nil
            Unmanaged.passUnretained(node).release()
            return state.hasForgottenMuch()
        }
        if isMuch { hasForgotten.yield() }
        _ = dropped
        if let orphan { closer?.close(orphan) }
    }

    /// The drive path of `node` by its latest name, nil when it has none any more.
    func path(of node: Node) -> RelativePath? {
        locked { _ in
            var names: [FileName] = []
            var current = node
            while current !== root {
                guard let name = current.latestName else { return nil }
                names.append(name.name)
                current = name.directory
            }
            return RelativePath(names.reversed())
        }
    }

    /// The drive path of `name` in `directory`.
    func path(of name: FileName, in directory: Node) -> RelativePath? { path(of: directory)?.appending(name) }

    /// Keeps `descriptor` for `directory`, and lets go of one that was not used for long.
    func cache(_ descriptor: Descriptor, for directory: Node) {
        var dropped: Descriptor?
        locked { state in
            guard directory.descriptor == nil, directory.lookups > 0 else { return }
            while state.cachedDirectories.count >= descriptorLimit {
                let oldest = state.cachedDirectories.removeFirst()
                if oldest.descriptorWasUsed {
                    oldest.descriptorWasUsed = false
                    state.cachedDirectories.append(oldest)
                } else {
                    dropped = oldest.descriptor
                    oldest.descriptor = nil
                }
            }
            directory.descriptor = descriptor
            directory.descriptorWasUsed = false
            state.cachedDirectories.append(directory)
        }
        _ = dropped
    }
}
