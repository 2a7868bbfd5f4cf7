import CFuse
import Glibc
import QuireCore

extension Driver {
    /// OPENDIR. The kernel keeps listings until something changes in the directory.
    func openDirectory(_ reply: consuming Reply, _ node: Node) {
        let opened = Result { () throws(DriverError) -> OpenDirectory in
            let descriptor = try resolver.directory(node)
            let raw = openat(descriptor.raw, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard raw >= 0 else { throw DriverError.last() }
            guard let stream = fdopendir(raw) else {
                let error = DriverError.last()
                Glibc.close(raw)
                throw error
            }
            return OpenDirectory(node: node, owning: stream)
        }
        switch opened {
        case .success(let directory):
            let handle = directory.retainedHandle()
            let flags = UInt32(CFUSE_OPEN_KEEP_CACHE.rawValue | CFUSE_OPEN_CACHE_DIRECTORY.rawValue)
            if !reply.opened(handle, flags: flags, backing: 0) { OpenDirectory.release(handle) }
        case .failure(let error): reply.error(error.errno)
        }
    }

    /// READDIR and READDIRPLUS: as many entries from `offset` on as fit.
    ///
    /// With attributes each entry counts as looked up; entries that vanish meanwhile are left out.
    func list(_ reply: consuming Reply, _ directory: OpenDirectory, _ size: Int, _ offset: off_t, withAttributes: Bool) {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: max(size, 1)) { [reply = consume reply] buffer in
            guard let base = buffer.baseAddress else { return reply.error(ENOMEM) }
            var filled = 0
            var failure: CInt = 0
            gate.shared {
                directory.stream.withLock { stream in
                    if stream.position != offset { seekdir(stream.raw, offset) }
                    stream.position = offset
                    while true {
                        errno = 0
                        guard let entry = readdir(stream.raw) else {
                            failure = errno
                            break
                        }
                        let count = add(
                            entry, of: directory, stream, to: base + filled, size - filled, reply, withAttributes)
                        // No room: this entry comes first next time.
                        guard let count else { break }
                        filled += count
                        stream.position = Int(entry.pointee.d_off)
                    }
                    // Whatever was read beyond what fits is read again.
                    seekdir(stream.raw, stream.position)
                }
            }
            if failure != 0, filled == 0 { return reply.error(failure) }
            reply.data(UnsafeRawBufferPointer(start: base, count: filled))
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
                var known: Node?
                if withAttributes, strcmp(text, ".") != 0, strcmp(text, "..") != 0 {
                    guard fstatat(dirfd(stream.raw), text, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return 0 }
                    known = table.lookUp(FileStatus(status), in: directory.node, name: FileName(kernel: text))
                }
                let count = reply.addEntry(
                    buffer, room, text, known.map(table.identifier) ?? 0, status, next: next,
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
