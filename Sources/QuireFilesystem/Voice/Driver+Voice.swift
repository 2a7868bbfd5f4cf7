import CFuse
import Glibc
import QuireCoordination
import QuireCore
import QuireStore

/// Remote changes that are made while the kernel serves a call of the driver's own.
extension Driver {
    /// Whether a request is one of them. Nothing of that process is done but what a `SpokenChange` waits for.
    func isOwn(_ reply: borrowing Reply) -> Bool { voice?.isSpeaker(reply.caller.pid) ?? false }

    /// Makes a change by a call on the mount, where programs may watch.
    ///
    /// - Parameter places: see `places`.
    /// - Returns: nil where it was not made, and has to be made in another way.
    func speak(_ change: LocalChange, at places: [SpokenChange.Place]) throws(LocalChangeError) -> MadeChange? {
        guard let voice, let spoken = spoken(change, at: places) else { return nil }
        voice.speak(spoken)
        let (made, staged) = spoken.end()
        let result = Result { () throws(LocalChangeError) -> MadeChange? in try made?.get() }
        if case .success(let made?) = result, case .done = made.outcome { return made }
        if let staged { withdraw(staged) }
        return try result.get()
    }

    /// Nil for what no watching program has to be told of, where none can watch, and where the call would have to wait for a
    /// program's request.
    private func spoken(_ change: LocalChange, at places: [SpokenChange.Place]) -> SpokenChange? {
        // While apps coordinate the engine makes a change under a claim, which the program that keeps the directory locked may
        // wait for, by an app between them. The claim lasts, also where the apps have just ended theirs.
        guard !mustAskCoordinator, !services.coordinator.hasClaims else { return nil }
        guard let place = places.first else { return nil }
        var wanted = places.map(\.directory)
        switch change.operation {
        case .setAttributes: return nil
        case .install, .makeDirectory, .remove: break
        case .move: guard places.count == 2 else { return nil }
        }
        if case .fingerprint(let expected) = change.expecting { wanted.append(expected.inode) }
        // Who watches something has made it known.
        let (known, isWritten) = table.locked { state -> ([UInt64], Bool) in
            let nodes = wanted.compactMap { state.byInode[$0] }.filter { !$0.isUnseen }
            return (nodes.map(table.identifier), nodes.contains { $0.writers > 0 })
        }
        guard !known.isEmpty, !isWritten, !parking.keepsLocked(known) else { return nil }
        return SpokenChange(change, at: place, to: places.dropFirst().first, token: MountVoice.makeToken())
    }

    /// Those of the directories that nobody has asked for since they were made.
    func unseenDirectories(of places: [SpokenChange.Place]) -> [Node] {
        guard !places.isEmpty else { return [] }
        return table.locked { state in places.compactMap { state.byInode[$0.directory] }.filter(\.isUnseen) }
    }

    /// Where a change is made, and where a move goes to; without those that are not there, and none where nobody speaks, or
    /// nobody is to be told: a document whose content comes or goes is the same to whoever watches.
    func places(of change: LocalChange) -> [SpokenChange.Place] {
        guard voice != nil, !change.keepsContent else { return [] }
        var paths = [change.path]
        if case .move(let path) = change.operation { paths.append(path) }
        return paths.compactMap(place(of:))
    }

    private func place(of path: RelativePath) -> SpokenChange.Place? {
        guard let parent = path.parent, let name = path.name, let directory = try? tree.directory(parent),
            let status = try? directory.status()
        else { return nil }
        return SpokenChange.Place(directory: status.inode, name: name)
    }

    /// What the kernel was shown is not to come: it forgets it.
    private func withdraw(_ staged: SpokenChange.StagedNode) {
        let (inode, entry) = (table.locked { _ in staged.node.inode }, staged.entry)
        detach(inode, from: entry.directory, entry.name, wasLast: true, kept: nil)
        notifier.entryChanged(in: table.identifier(entry.directory), entry.name)
    }

    /// LOOKUP of a token: the staged file, which is in the store under no name.
    func lookUpStaged(_ reply: consuming Reply, _ directory: Node, _ name: FileName) {
        // Not to be remembered by the kernel: nothing in the store is called so.
        guard let voice, let spoken = voice.current else {
            voice?.greeted()
            return reply.error(ENOENT)
        }
        guard spoken.token == name, spoken.place.directory == directoryInode(directory),
            case .install(let path, let isDataless) = spoken.change.operation
        else { return reply.error(ENOENT) }
        var status = stat()
        guard lstat(path, &status) == 0 else { return reply.error(errno) }
        let node = table.lookUp(FileStatus(status), in: directory, name: name)
        if isDataless {
            table.locked { state in
                if node.shownInode == nil { node.makeDetails().shownInode = state.makeShownInode() }
            }
        }
        guard spoken.show(.init(node: node, entry: Entry(directory: directory, name: name))) else {
            detach(status.inode, from: directory, name, wasLast: true, kept: nil)
            table.forget(node, 1)
            return reply.error(ENOENT)
        }
        // Its owner is given to it when it is put in its place.
        if !reply.passingEntry(table.identifier(node), table.shown(status, of: node).status) { table.forget(node, 1) }
    }

    /// RENAME, UNLINK, RMDIR and MKDIR of the voice's process.
    func perform(_ reply: consuming Reply, _ call: NameCall) {
        guard let spoken = voice?.current, spoken.isMeant(by: call, directoryInode), spoken.claim() else {
            return reply.error(ECANCELED)
        }
        var entered: (Node, stat)?
        let made = Result { () throws(LocalChangeError) -> MadeChange? in
            try gate.exclusive { () throws(LocalChangeError) -> MadeChange? in
                guard isInPlace(spoken) else { return nil }
                return try swap(spoken.change) { follow($0, spoken, call, &entered) }
            }
        }
        switch made {
        case .success(let made?):
            spoken.finish(.success(made))
            guard case .done = made.outcome else { return reply.error(EBUSY) }
            if let (node, status) = entered {
                // Whoever comes to it asks for it.
                if !reply.passingEntry(table.identifier(node), table.shown(status, of: node).status) {
                    table.forget(node, 1)
                }
                return
            }
            // Without the new directory the kernel cannot go on; it finds it when it looks.
            if case .makeDirectory = call { return reply.error(EIO) }
            reply.error(0)
        case .success(nil):
            spoken.finish(nil)
            reply.error(ECANCELED)
        case .failure(let error):
            spoken.finish(.failure(error))
            reply.error(error.errno)
        }
    }

    /// Whether the paths of a change lead to the directories still in which the kernel is about to make it.
    private func isInPlace(_ spoken: SpokenChange) -> Bool {
        guard place(of: spoken.change.path) == spoken.place else { return false }
        guard case .move(let path) = spoken.change.operation else { return true }
        return place(of: path) == spoken.destination
    }

    /// Brings the node table after a change that the kernel makes in its own tables once it is answered.
    ///
    /// - Parameter entered: a new directory, which the kernel is given.
    private func follow(
        _ committed: CommittedChange, _ spoken: SpokenChange, _ call: NameCall, _ entered: inout (Node, stat)?
    ) -> [KernelNotice] {
        switch (committed.commit.change, call) {
        case (.installed(_, let name, let status, _), .rename(let source, let target)):
            contentsChanged(target.directory)
            if let previous = committed.previous {
                detach(previous.inode, from: target.directory, name, wasLast: previous.linkCount <= 1, kept: nil)
            }
            table.locked { state in
                let node = state.byInode[status.inode]
                Self.reattach(node, from: source, to: target)
                node?.mayHavePrivilegeBits = status.mode & 0o6000 != 0
            }
            return otherNames(of: committed.previous)
        case (.installed(_, let name, let status, _), .makeDirectory(let entry)):
            contentsChanged(entry.directory)
            guard let raw = try? StoreCall.status(in: try resolver.directory(entry.directory), name) else {
                return [.entry(directory: entry.directory, name)]
            }
            let node = table.lookUp(status, in: entry.directory, name: name)
            table.locked { _ in node.isUnseen = true }
            entered = (node, raw)
            return []
        case (
            .moved(let fromParent, let fromName, let toParent, let toName, let status), .rename(let source, let target)
        ):
            contentsChanged(source.directory)
            if source.directory !== target.directory { contentsChanged(target.directory) }
            moved(fromParent, fromName, toParent, toName, status, byKernel: true)
            return []
        case (.removed(_, let name, let inode), .remove(let entry, let isDirectory)):
            contentsChanged(entry.directory)
            let isLast = isDirectory || (committed.previous?.linkCount ?? 1) <= 1
            detach(inode, from: entry.directory, name, wasLast: isLast, kept: nil)
            return otherNames(of: committed.previous)
        default: preconditionFailure("a change is made by the call that it is meant by")
        }
    }
}
