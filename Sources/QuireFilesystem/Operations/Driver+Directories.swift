import CFuse
import Glibc
import QuireCore
import Synchronization

extension Driver {
    /// OPENDIR: not needed.
    ///
    /// The kernel asks once, and from then on opens and closes directories by itself, keeps their listings until something
    /// changes in them, and looks at permissions where the mount has it do so.
    func openDirectory(_ reply: consuming Reply) { reply.error(ENOSYS) }

    /// READDIR and READDIRPLUS: as many entries from `offset` on as fit.
    ///
    /// With attributes each entry counts as looked up; entries that vanish meanwhile are left out.
    func list(_ reply: consuming Reply, _ directory: Node, _ size: Int, _ offset: off_t, withAttributes: Bool) {
        let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: max(size, 1))
        defer { buffer.deallocate() }
        let filled = Result { () throws(DriverError) -> Int in
            try gate.shared { () throws(DriverError) -> Int in
                let stream = try stream(of: directory, at: offset)
                let count = try fill(buffer, size, from: stream, reply, withAttributes)
                // Without entries the kernel has come to the end.
                if count > 0 { table.listings.keep(stream) }
                return count
            }
        }
        switch filled {
        case .success(let count): reply.data(UnsafeRawBufferPointer(start: buffer, count: count))
        case .failure(let error): reply.error(error.errno)
        }
    }

    private func stream(of directory: Node, at offset: off_t) throws(DriverError) -> DirectoryStream {
        if offset != 0, let stream = table.listings.take(directory, at: offset) { return stream }
        let stream = try DirectoryStream(directory, try resolver.directory(directory))
        if offset != 0 { stream.seek(to: offset) }
        return stream
    }

    /// - Returns: the bytes used; 0 at the end.
    private func fill(
        _ buffer: UnsafeMutablePointer<CChar>, _ size: Int, from stream: DirectoryStream,
        _ reply: borrowing Reply, _ withAttributes: Bool
    ) throws(DriverError) -> Int {
        var filled = 0
        while true {
            errno = 0
            guard let entry = readdir(stream.raw) else {
                if errno != 0, filled == 0 { throw .last() }
                return filled
            }
            guard let count = add(entry, of: stream, to: buffer + filled, size - filled, reply, withAttributes) else {
                // No room: this entry is read again, first.
                stream.seek(to: stream.position)
                return filled
            }
            filled += count
            stream.position = entry.pointee.d_off
        }
    }

    /// - Returns: the bytes used (0 for an entry that is no more), nil when it does not fit.
    private func add(
        _ entry: UnsafeMutablePointer<dirent>, of stream: DirectoryStream, to buffer: UnsafeMutablePointer<CChar>,
        _ room: Int, _ reply: borrowing Reply, _ withAttributes: Bool
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
                    let moment = table.moment
                    guard fstatat(stream.descriptor, text, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return 0 }
                    let node = meet(status, in: stream.node, FileName(kernel: text), stream.descriptor)
                    shown = table.shown(status, of: node, asOf: moment)
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
    func synchronize(_ reply: consuming Reply, _ directory: Node) {
        let opened = Result { () throws(DriverError) -> Descriptor in
            try resolver.open(directory, O_RDONLY | O_DIRECTORY)
        }
        switch opened {
        case .success(let descriptor):
            synchronize(reply, descriptor, dataOnly: false, and: {}, answer: { reply in reply.error(0) })
        case .failure(let error): reply.error(error.errno)
        }
    }
}
