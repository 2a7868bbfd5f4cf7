import CFuse
import Glibc
import QuireCoordination
import QuireCore
import QuireStore
import Synchronization

/// What the kernel has to be told after a change of the sync engine's.
enum KernelNotice: Sendable {
    case entry(directory: Node, FileName)
    case content(Node)
    case attributes(Node)
}

/// What became of a compare-and-swap, and what the kernel has to be told.
struct MadeChange: Sendable {
    let outcome: CompareAndSwapOutcome
    var notices: [KernelNotice] = []
}

extension Driver {
    /// Makes one change of the sync engine's, as one compare-and-swap, and tells the kernel.
    ///
    /// Alone in the gate the swap. Afterwards, with nothing held: fsync of the directory, and the kernel's notifications, sent
    /// by the notifier's own queue.
    ///
    /// Where programs may watch, the swap is made while the kernel serves a call of the driver's own: see `MountVoice`.
    func commit(_ change: LocalChange) throws(LocalChangeError) -> LocalChangeResult {
        let made = try make(change)
        for notice in made.notices { send(notice) }
        if case .done(let committed) = made.outcome {
            let untold = enter(change, isNew: committed.previous == nil)
            // The kernel forgets what it had of it first.
            if !untold.isEmpty { notifier.whenDelivered { [services] in services.coordinator.tell(untold) } }
        }
        if case .done = made.outcome { try CompareAndSwap.makeDurable(tree, change) }
        return made.outcome.result
    }

    /// By a call on the mount where programs may watch, else by the swap alone.
    private func make(_ change: LocalChange) throws(LocalChangeError) -> MadeChange {
        while true {
            let places = places(of: change)
            let unseen = unseenDirectories(of: places)
            if let spoken = try speak(change, at: places) { return spoken }
            // Who has come to one of them meanwhile may watch.
            if let made = try swap(change, unlessSeen: unseen) { return made }
        }
    }

    /// The swap itself, with all that belongs to it inside the gate. Nil, and nothing is done, where a program has asked for one of
    /// those directories.
    private func swap(
        _ change: LocalChange, unlessSeen unseen: [Node]
    ) throws(LocalChangeError) -> MadeChange? {
        try gate.exclusive { () throws(LocalChangeError) -> MadeChange? in
            guard unseen.isEmpty || table.locked({ _ in unseen.allSatisfy(\.isUnseen) }) else { return nil }
            return try swap(change) { follow($0, keepsContent: change.keepsContent) }
        }
    }

    /// Alone in the gate: check, swap, node table, event.
    ///
    /// - Parameter follow: brings the node table after the change. Returns what the kernel has to be told.
    func swap(
        _ change: LocalChange, follow: (CommittedChange) -> [KernelNotice]
    ) throws(LocalChangeError) -> MadeChange {
        // Who begins to coordinate says so before the gate lets anybody else in.
        if change.yieldsToApps, services.coordinator.isActive { return MadeChange(outcome: .busy) }
        let outcome = try CompareAndSwap.perform(tree, change) { openState($0) }
        guard case .done(let committed) = outcome else { return MadeChange(outcome: outcome) }
        // Before the next program takes the document away.
        switch change.operation {
        case .install where !change.keepsContent: noteArrival(at: change.path, in: committed.parent)
        case .move(let place): noteArrival(at: place, in: committed.destinationParent ?? committed.parent)
        case .install, .makeDirectory, .remove, .setAttributes: break
        }
        let notices = follow(committed)
        record(.committed(committed.commit))
        return MadeChange(outcome: outcome, notices: notices)
    }

    /// What presenters are to be told of a change of the sync engine's.
    private func enter(_ change: LocalChange, isNew: Bool) -> UntoldChange {
        let (coordinator, path) = (services.coordinator, change.path)
        switch change.operation {
        // The same content, elsewhere: sync says so by the ubiquity attributes.
        case .install where change.keepsContent: return .nothing
        case .install where isNew, .makeDirectory where isNew:
            return coordinator.enter { $0.appeared(path) } + enterVersion(.gained, path)
        case .install, .makeDirectory, .setAttributes: return coordinator.enter { $0.changed(path) }
        // A local version that gives its name to the provider's: who presents the document stays with the document.
        case .move(let destination) where destination.isConflictCopy(of: path):
            return coordinator.enter { $0.appeared(destination) } + enterVersion(.gained, destination, of: path)
        case .move(let destination):
            let moved = coordinator.enter { $0.moved(from: path, to: destination) }
            return destination.documentOfConflict == nil ? moved + enterVersion(.resolved, path) : moved
        case .remove: return coordinator.enter { $0.disappeared(path) } + enterVersion(.resolved, path)
        }
    }

    /// Of a conflict copy that came or went, what the presenters of the document are told.
    ///
    /// - Parameter document: by the copy's name where it is not known.
    private func enterVersion(
        _ event: VersionEvent, _ copy: RelativePath, of document: RelativePath? = nil
    ) -> UntoldChange {
        guard let document = document ?? copy.documentOfConflict, let name = copy.name else { return .nothing }
        return services.coordinator.enter { $0.versionChanged(event, id: name.description, of: document) }
    }

    private func openState(_ status: FileStatus) -> OpenState {
        if table.mappings.contains(status.inode) { return .writing }
        return table.locked { state in
            guard let node = state.byInode[status.inode] else { return .closed }
            if node.writers > 0 { return .writing }
            return node.isOpen ? .reading : .closed
        }
    }

    private func send(_ notice: KernelNotice) {
        switch notice {
        case .entry(let directory, let name): notifier.entryChanged(in: table.identifier(directory), name)
        case .content(let node): notifier.contentChanged(table.identifier(node))
        case .attributes(let node): notifier.attributesChanged(table.identifier(node))
        }
    }

    /// Brings the node table after a change of the store.
    func follow(_ committed: CommittedChange, keepsContent: Bool) -> [KernelNotice] {
        switch committed.commit.change {
        case .installed(let parent, let name, let status, let isDataless):
            if keepsContent, !isDataless, let notice = arrived(status, over: committed.previous) { return [notice] }
            return installed(parent, name, status, over: committed.previous, isDataless: isDataless)
        case .moved(let fromParent, let fromName, let toParent, let toName, let status):
            return moved(fromParent, fromName, toParent, toName, status)
        case .removed(let parent, let name, let inode):
            guard let directory = table.known(parent) else { return [] }
            detach(
                inode, from: directory, name,
                wasLast: (committed.previous?.linkCount ?? 1) <= 1 || committed.previous?.kind == .directory, kept: nil)
            return [.entry(directory: directory, name)] + otherNames(of: committed.previous)
        case .attributes(let status):
            guard let node = table.known(status.inode) else { return [] }
            return renew(node, status) ?? [.attributes(node)]
        }
    }

    /// Lets the kernel meet a file anew that it has its own opinion of: while it collects writes, it takes no size and no
    /// time of a known file from the driver. Nil where it need not, or cannot because the file is open.
    private func renew(_ node: Node, _ status: FileStatus) -> [KernelNotice]? {
        guard writesBack.load(ordering: .relaxed), status.kind == .file else { return nil }
        let names = table.locked { state -> [Entry]? in
            guard !node.isOpen else { return nil }
            defer {
                node.removeNames()
                if state.byInode[status.inode] === node { state.byInode[status.inode] = nil }
            }
            return node.names
        }
        return names?.map { .entry(directory: $0.directory, $0.name) }
    }

    /// Another file is under a name. Where nobody has the former one open, its node simply stands for the new file from
    /// now on, and what the kernel knows of the name stays right.
    private func installed(
        _ parent: UInt64, _ name: FileName, _ status: FileStatus, over previous: FileStatus?, isDataless: Bool
    ) -> [KernelNotice] {
        guard let directory = table.known(parent) else { return [] }
        // Who has not asked for a directory has asked for nothing in it.
        let isUnseen = table.locked { _ in directory.isUnseen }
        let entered = isUnseen ? [] : [KernelNotice.entry(directory: directory, name)]
        guard let previous else { return entered }
        let rebound = table.locked { state -> (node: Node, mayHavePages: Bool)? in
            guard let node = state.byInode[previous.inode], !node.isOpen, previous.linkCount <= 1 else {
                return nil
            }
            guard previous.kind == status.kind, !node.isDirectory else { return nil }
            // See `renew`.
            guard !writesBack.load(ordering: .relaxed) || previous.size == status.size && previous.mtime == status.mtime
            else { return nil }
            state.byInode[previous.inode] = nil
            node.inode = status.inode
            node.hasNoCapability = false
            node.hasNoAttributes = false
            // The number of the former file may be used again from now on.
            if isDataless, node.shownInode == nil { node.makeDetails().shownInode = state.makeShownInode() }
            node.mayHavePrivilegeBits = status.mode & 0o6000 != 0
            state.byInode[status.inode] = node
            defer { node.wasOpened = false }
            // Who opens it before the kernel is told below.
            if node.wasOpened { node.pagesMayBeStale = true }
            return (node, node.wasOpened || status.kind != .file)
        }
        // The rename has changed the directory's ctime. A listing that the kernel keeps as long as the mtime stays has the
        // file's former number, where that is another one now.
        if let (node, mayHavePages) = rebound {
            // Attributes at once, what takes the pages' lock a moment later.
            return [.attributes(node)] + (mayHavePages ? [.content(node)] : [])
                + [isDataless ? .content(directory) : .attributes(directory)]
        }
        detach(previous.inode, from: directory, name, wasLast: previous.linkCount <= 1, kept: nil)
        return entered + otherNames(of: previous)
    }

    /// The content of a document that programs read while it arrived is here as a whole: their handles are of it from now on,
    /// and what the kernel has of it stays right. Nil where nobody reads it so, somebody reads what came before this was begun
    /// anew, or descriptors are short: they read on what has come then, which is no longer the document under the name.
    private func arrived(_ status: FileStatus, over previous: FileStatus?) -> KernelNotice? {
        guard let previous, previous.linkCount <= 1 else { return nil }
        let node = table.locked { state -> Node? in
            guard let node = state.byInode[previous.inode], node.isOpen,
                node.files.allSatisfy({ $0.arrival?.reads(status.inode) ?? false })
            else { return nil }
            // All or none: what one of them has open still is written to by whoever opens the document next.
            let contents = node.files.compactMap { $0.arrival?.duplicate() }
            guard contents.count == node.files.count else { return nil }
            for (file, content) in zip(node.files, contents) { file.arrival?.settle(at: content) }
            state.byInode[previous.inode] = nil
            node.inode = status.inode
            node.hasNoCapability = false
            node.hasNoAttributes = false
            state.byInode[status.inode] = node
            return node
        }
        return node.map { .attributes($0) }
    }

    /// A file that has lost one of several names has fewer links under the others.
    func otherNames(of previous: FileStatus?) -> [KernelNotice] {
        guard let previous, previous.kind != .directory, previous.linkCount > 1 else { return [] }
        return table.known(previous.inode).map { [.attributes($0)] } ?? []
    }

    /// - Parameter byKernel: it does the same in its own tables.
    @discardableResult
    func moved(
        _ fromParent: UInt64, _ fromName: FileName, _ toParent: UInt64, _ toName: FileName, _ status: FileStatus,
        byKernel: Bool = false
    ) -> [KernelNotice] {
        let from = table.known(fromParent)
        let to = table.known(toParent)
        if let from, let to {
            table.locked { state in
                let (node, entry) = (state.byInode[status.inode], Entry(directory: from, name: fromName))
                Self.reattach(node, from: entry, to: Entry(directory: to, name: toName))
                if status.kind == .file, !byKernel { node?.takeAway(from: entry) }
            }
        } else if let from {
            // Into a directory that the kernel does not know: it finds the file there when it looks.
            detach(status.inode, from: from, fromName, wasLast: false, kept: nil)
        }
        return [from.map { .entry(directory: $0, fromName) }, to.map { .entry(directory: $0, toName) }].compactMap {
            $0
        }
    }
}
