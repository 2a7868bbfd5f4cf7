import CFuse
import Glibc
import QuireCore
import Synchronization

extension Driver {
    /// OPENDIR. The kernel keeps listings until something changes in the directory.
    func openDirectory(_ reply: consuming Reply, _ node: Node) {
        let opened = Result { () throws(DriverError) -> OpenDirectory in
            try table.handles.admitDirectory()
            let descriptor = try resolver.directory(node)
            let raw = openat(descriptor.raw, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard raw >= 0 else { throw DriverError.last() }
            guard let stream = fdopendir(raw) else {
                let error = DriverError.last()
                Glibc.close(raw)
                throw error
            }
            return OpenDirectory(node: node, owning: stream, countedIn: table.handles)
        }
        switch opened {
        case .success(let directory):
            let handle = directory.retainedHandle()
            let flags = UInt32(CFUSE_OPEN_KEEP_CACHE | CFUSE_OPEN_CACHE_DIRECTORY)
            if !reply.opened(handle, flags: flags, backing: 0) { OpenDirectory.release(handle) }
        case .failure(let error): reply.error(error.errno)
        }
    }

    /// READDIR and READDIRPLUS: as many entries from `offset` on as fit.
    ///
    /// With attributes each entry counts as looked up; entries that vanish meanwhile are left out.
    func list(_ reply: consuming Reply, _ directory: OpenDirectory, _ size: Int, _ offset: off_t, withAttributes: Bool)
    {
        let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: max(size, 1))
        defer { buffer.deallocate() }
        let filled = gate.shared {
            directory.stream.withLock { fill(buffer, size, from: &$0, of: directory, offset, reply, withAttributes) }
        }
        switch filled {
        case .success(let count): reply.data(UnsafeRawBufferPointer(start: buffer, count: count))
        case .failure(let error): reply.error(error.errno)
        }
    }

    private func fill(
        _ buffer: UnsafeMutablePointer<CChar>, _ size: Int, from stream: inout OpenDirectory.Stream,
        of directory: OpenDirectory, _ offset: off_t, _ reply: borrowing Reply, _ withAttributes: Bool
    ) -> Result<Int, DriverError> {
        if stream.position != offset { seekdir(stream.raw, offset) }
        stream.position = offset
        var filled = 0
        while true {
            errno = 0
            guard let entry = readdir(stream.raw) else {
                if errno != 0, filled == 0 { return .failure(.last()) }
                return .success(filled)
            }
            let count = add(entry, of: directory, stream, to: buffer + filled, size - filled, reply, withAttributes)
            guard let count else {
                // No room: this entry is read again, first.
                seekdir(stream.raw, stream.position)
                return .success(filled)
            }
            filled += count
            stream.position = Int(entry.pointee.d_off)
        }
    }

    /// - Returns: the bytes used (0 for an entry that is no more), nil when it does not fit.
    private func add(
        _ entry: UnsafeMutablePointer<dirent>, of directory: OpenDirectory, _ stream: OpenDirectory.Stream,
        to buffer: UnsafeMutablePointer<CChar>, _ room: Int, _ reply: borrowing Reply, _ withAttributes: Bool
    ) -> Int? {
        let next = off_t(entry.pointee.d_off)
        return withUnsafeMutablePointer(to: &entry.pointee.d_name) { raw in
            raw.withMemoryRebound(to: CChar.self, capacity: 256) { text in
                var status = stat()
                status.st_ino = entry.pointee.d_ino
                status.st_mode = mode_t(entry.pointee.d_type) << 12
                var shown = ShownAttributes(status: status, mayBeKept: true)
                var known: Node?
                if withAttributes, strcmp(text, ".") != 0, strcmp(text, "..") != 0 {
                    guard fstatat(dirfd(stream.raw), text, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return 0 }
                    let node = meet(status, in: directory.node, FileName(kernel: text), dirfd(stream.raw))
                    shown = table.shown(status, of: node)
                    known = node
                }
                let count = reply.addEntry(
                    buffer, room, text, known.map(table.identifier) ?? 0, shown, next: next,
                    withAttributes: withAttributes)
                guard count <= room else {
                    if let known { table.forget(known, 1) }
                    return nil
                }
                return count
            }
        }
    }

    /// FSYNCDIR.
    func synchronize(_ reply: consuming Reply, _ directory: OpenDirectory) {
        parking.offload(reply) { reply in
            let result = directory.stream.withLock { fsync(dirfd($0.raw)) }
            reply.error(result == 0 ? 0 : errno)
        }
    }
}
