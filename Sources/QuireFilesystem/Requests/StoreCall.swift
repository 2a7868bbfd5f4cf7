import CFuse
import CLinux
import Glibc
import QuireCore

/// System calls on the store, with typed errors.
enum StoreCall {
    /// fstat.
    static func status(of descriptor: Descriptor) throws(DriverError) -> stat {
        var status = stat()
        // An O_PATH descriptor is as good as any other here.
        guard fstat(descriptor.raw, &status) == 0 else { throw DriverError.last() }
        return status
    }

    /// lstat of `name` in a directory.
    static func status(in directory: Descriptor, _ name: FileName) throws(DriverError) -> stat {
        var status = stat()
        let result = name.withCString { fstatat(directory.raw, $0, &status, AT_SYMLINK_NOFOLLOW) }
        guard result == 0 else { throw DriverError.last() }
        return status
    }

    /// As `status(in:_:)`, nil where there is nothing of that name.
    static func statusIfAny(in directory: Descriptor, _ name: FileName) throws(DriverError) -> stat? {
        do throws(DriverError) {
            return try status(in: directory, name)
        } catch {
            if error.errno == ENOENT { return nil }
            throw error
        }
    }

    /// Opens a directory for reading its entries, at the start. The caller closes it.
    static func listing(of directory: Descriptor) throws(DriverError) -> OpaquePointer {
        let raw = withExtendedLifetime(directory) { openat(directory.raw, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard raw >= 0 else { throw DriverError.last() }
        guard let stream = fdopendir(raw) else {
            let error = DriverError.last()
            close(raw)
            throw error
        }
        return stream
    }

    /// The names in a directory, without `.` and `..`.
    static func names(in directory: Descriptor) throws(DriverError) -> [FileName] {
        let stream = try listing(of: directory)
        defer { closedir(stream) }
        var names: [FileName] = []
        errno = 0
        while let entry = readdir(stream) {
            let name = withUnsafeMutablePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { FileName(kernel: $0) }
            }
            if name.bytes != [0x2E], name.bytes != [0x2E, 0x2E] { names.append(name) }
            errno = 0
        }
        guard errno == 0 else { throw DriverError.last() }
        return names
    }

    /// Whether the file system of a file keeps everything in memory (tmpfs, ramfs).
    static func isInMemory(_ descriptor: Descriptor) -> Bool {
        var space = statfs()
        guard fstatfs(descriptor.raw, &space) == 0 else { return false }
        // TMPFS_MAGIC and RAMFS_MAGIC of <linux/magic.h>.
        return [0x0102_1994, 0x8584_58F6].contains(space.f_type)
    }

    /// Throws the errno when a call returned -1.
    static func check(_ result: CInt) throws(DriverError) {
        guard result != -1 else { throw DriverError.last() }
    }
}

extension stat {
    /// The inode, as the events have it.
    var inode: UInt64 { UInt64(st_ino) }
}

extension FileName {
    /// The name as C wants it, for the time of `body`.
    func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: bytes.count + 1) { buffer in
            for index in bytes.indices { buffer[index] = CChar(bitPattern: bytes[index]) }
            buffer[bytes.count] = 0
            guard let base = buffer.baseAddress else { preconditionFailure("an allocation of at least one byte") }
            return body(UnsafePointer(base))
        }
    }

    /// A name that the kernel hands over: checked by it, ended by NUL.
    init(kernel pointer: UnsafePointer<CChar>) {
        let count = strlen(pointer)
        self.init(
            unchecked: pointer.withMemoryRebound(to: UInt8.self, capacity: count) {
                Array(UnsafeBufferPointer(start: $0, count: count))
            })
    }
}
