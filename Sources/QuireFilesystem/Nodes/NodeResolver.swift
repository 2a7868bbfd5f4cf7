import CFuse
import Glibc
import QuireCore

/// Finds the file of a node in the store: by an open handle, or by walking names down from a cached directory.
///
/// Names can change between reading them and using them, so what is opened is compared with the node's inode and the walk
/// repeated when it is another file. Blocking on the local file system only; callable from any thread without locks held.
struct NodeResolver: Sendable {
    let table: NodeTable

    /// How often a walk is repeated that met with renames. Each round needs a rename of its own to fail.
    private static let attempts = 64

    /// A descriptor (O_PATH) of a directory.
    ///
    /// - Throws: ESTALE when the directory is gone; the errno of opening otherwise.
    func directory(_ node: Node) throws(DriverError) -> Descriptor {
        for _ in 0..<Self.attempts {
            // From the directory up to one whose descriptor is at hand.
            let (start, steps, orphan) = table.locked { _ -> (Descriptor?, [(Node, UInt64, FileName)], Bool) in
                var steps: [(Node, UInt64, FileName)] = []
                var current = node
                while current.descriptor == nil {
                    if let orphan = current.orphan { return (orphan, steps, true) }
                    guard let name = current.latestName else { return (nil, [], true) }
                    steps.append((current, current.inode, name.name))
                    current = name.directory
                }
                current.descriptorWasUsed = true
                return (current.descriptor, steps, false)
            }
            guard let start else { throw DriverError(ESTALE) }
            if steps.isEmpty { return start }
            if let found = try walk(from: start, down: steps.reversed()) { return found }
            if orphan { throw DriverError(ESTALE) }
        }
        throw DriverError(ESTALE)
    }

    /// Opens each directory of `steps` in the one before. Nil when one is not where it was thought to be.
    private func walk(from start: Descriptor, down steps: [(Node, UInt64, FileName)]) throws(DriverError) -> Descriptor?
    {
        var current = start
        for (node, inode, name) in steps {
            let raw = name.withCString { openat(current.raw, $0, O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC) }
            guard raw >= 0 else {
                if [ENOENT, ENOTDIR, ELOOP].contains(errno) { return nil }
                throw DriverError.last()
            }
            let opened = Descriptor(owning: raw)
            guard try StoreCall.status(of: opened).inode == inode else { return nil }
            table.cache(opened, for: node)
            current = opened
        }
        return current
    }

    /// Runs `body` with the directory and name under which `node` is found now, until it has met the right file.
    ///
    /// - Parameter body: returns nil when what it found there is not this node's inode.
    /// - Throws: ESTALE when the file has no name any more.
    func withName<Result>(
        of node: Node, _ body: (Descriptor, FileName, _ inode: UInt64) throws(DriverError) -> Result?
    ) throws(DriverError) -> Result {
        for attempt in 0..<Self.attempts {
            let candidates = table.locked { _ in node.names.map { ($0.directory, $0.name) } }
            let inode = table.locked { _ in node.inode }
            if candidates.isEmpty { break }
            for (directory, name) in candidates {
                do throws(DriverError) {
                    if let result = try body(try self.directory(directory), name, inode) { return result }
                } catch {
                    guard [ENOENT, ENOTDIR, ESTALE, ELOOP].contains(error.errno), attempt + 1 < Self.attempts else {
                        throw error
                    }
                }
            }
        }
        throw DriverError(ESTALE)
    }

    /// An open handle's descriptor of the file, or the one kept since its last name went.
    func openDescriptor(_ node: Node) -> Descriptor? {
        table.locked { _ in node.details.flatMap { $0.files.first?.descriptor ?? $0.orphan } }
    }

    /// What `stat` says of the file.
    func status(_ node: Node) throws(DriverError) -> stat {
        if let descriptor = openDescriptor(node) { return try StoreCall.status(of: descriptor) }
        if node.isDirectory { return try StoreCall.status(of: try directory(node)) }
        return try withName(of: node) { (directory, name, inode) throws(DriverError) -> stat? in
            let status = try StoreCall.status(in: directory, name)
            return status.inode == inode ? status : nil
        }
    }

    /// A descriptor (O_PATH) that stands for the file itself, symlinks included.
    func reference(_ node: Node) throws(DriverError) -> Descriptor {
        if let descriptor = openDescriptor(node) { return descriptor }
        if node.isDirectory { return try directory(node) }
        return try open(node, O_PATH | O_NOFOLLOW)
    }

    /// Opens the file anew. `flags` as for open(2); O_CLOEXEC and O_NOFOLLOW are added.
    func open(_ node: Node, _ flags: CInt) throws(DriverError) -> Descriptor {
        if let descriptor = openDescriptor(node) {
            let raw = Glibc.open(descriptor.proc, (flags & ~O_NOFOLLOW) | O_CLOEXEC)
            guard raw >= 0 else { throw DriverError.last() }
            return Descriptor(owning: raw)
        }
        if node.isDirectory {
            let directory = try directory(node)
            let raw = withExtendedLifetime(directory) { openat(directory.raw, ".", flags | O_CLOEXEC) }
            guard raw >= 0 else { throw DriverError.last() }
            return Descriptor(owning: raw)
        }
        return try withName(of: node) { (directory, name, inode) throws(DriverError) -> Descriptor? in
            // O_NONBLOCK: a FIFO that took the name must not hold this thread up.
            let raw = name.withCString { openat(directory.raw, $0, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK) }
            guard raw >= 0 else {
                let error = DriverError.last()
                guard error.errno == EWOULDBLOCK else { throw error }
                return try openLeased(directory, name, inode, flags)
            }
            let opened = Descriptor(owning: raw)
            return try StoreCall.status(of: opened).inode == inode ? opened : nil
        }
    }

    /// Opens a file of which somebody asks at this moment who writes to it, by a lease (`LiveFile`): waits until that
    /// ends, for as long as the kernel lets a lease stay at most.
    private func openLeased(
        _ directory: Descriptor, _ name: FileName, _ inode: UInt64, _ flags: CInt
    ) throws(DriverError) -> Descriptor? {
        let raw = name.withCString { openat(directory.raw, $0, O_PATH | O_NOFOLLOW | O_CLOEXEC) }
        guard raw >= 0 else { throw DriverError.last() }
        let reference = Descriptor(owning: raw)
        let status = try StoreCall.status(of: reference)
        guard status.inode == inode else { return nil }
        guard status.st_mode & S_IFMT == S_IFREG else { throw DriverError(EWOULDBLOCK) }
        let opened = Glibc.open(reference.proc, (flags & ~O_NOFOLLOW) | O_CLOEXEC)
        guard opened >= 0 else { throw DriverError.last() }
        return Descriptor(owning: opened)
    }
}
