import CLinux
import Glibc
import QuireCore

/// The system calls that the folder provider makes, relative to directory descriptors, never following a symlink.
///
/// All block on the filesystem and belong on a thread of `BlockingPool`.
enum SystemCalls {
    /// Makes a call that answers -1 on failure, again when a signal interrupted it.
    @discardableResult
    static func check(_ call: String, _ body: () -> Int32) throws(SystemFailure) -> Int32 {
        while true {
            let result = body()
            if result >= 0 { return result }
            let code = errno
            if code != EINTR { throw SystemFailure(code, call) }
        }
    }

    static func open(
        at directory: Int32, _ name: FileName, _ flags: Int32, mode: mode_t = 0
    ) throws(SystemFailure) -> OpenFile {
        let descriptor = try name.withCString { (name) throws(SystemFailure) in
            try check("open") { openat(directory, name, flags | O_NOFOLLOW | O_CLOEXEC, mode) }
        }
        return OpenFile(taking: descriptor)
    }

    static func openDirectory(at directory: Int32, _ name: FileName) throws(SystemFailure) -> OpenFile {
        try open(at: directory, name, O_RDONLY | O_DIRECTORY)
    }

    static func duplicate(_ descriptor: Int32) throws(SystemFailure) -> OpenFile {
        OpenFile(taking: try check("dup") { fcntl(descriptor, F_DUPFD_CLOEXEC, 0) })
    }

    /// Nil where nothing is there.
    static func status(at directory: Int32, _ name: FileName) throws(SystemFailure) -> FileFacts? {
        do throws(SystemFailure) {
            return try name.withCString { (name) throws(SystemFailure) in
                try facts(directory, name, flags: AT_SYMLINK_NOFOLLOW)
            }
        } catch {
            if error.code == ENOENT { return nil }
            throw error
        }
    }

    static func status(of descriptor: Int32) throws(SystemFailure) -> FileFacts {
        try facts(descriptor, "", flags: LinuxCalls.emptyPath)
    }

    /// - Parameter path: below `directory`, NUL-terminated.
    static func facts(_ directory: Int32, _ path: UnsafePointer<CChar>, flags: Int32) throws(SystemFailure) -> FileFacts
    {
        let result = withUnsafeTemporaryAllocation(byteCount: 256, alignment: 8) { buffer in
            Result { () throws(SystemFailure) -> FileFacts in
                try check("statx") { quire_statx(directory, path, flags, buffer.baseAddress) }
                return FileFacts(statx: UnsafeRawBufferPointer(buffer))
            }
        }
        // A kernel, or a sandbox, without statx.
        if case .failure(let failure) = result, failure.code == ENOSYS {} else { return try result.get() }
        var raw = stat()
        if flags & LinuxCalls.emptyPath != 0 {
            try check("fstat") { fstat(directory, &raw) }
        } else {
            try check("fstatat") { fstatat(directory, path, &raw, flags) }
        }
        return FileFacts(raw)
    }

    static func rename(
        _ from: (directory: Int32, name: FileName), to: (directory: Int32, name: FileName), flags: UInt32 = 0
    ) throws(SystemFailure) {
        try from.name.withCString { (source) throws(SystemFailure) in
            try to.name.withCString { (target) throws(SystemFailure) in
                try check("rename") {
                    guard flags != 0 else { return renameat(from.directory, source, to.directory, target) }
                    return quire_renameat2(from.directory, source, to.directory, target, flags)
                }
            }
        }
    }

    static func link(
        _ from: (directory: Int32, name: FileName), to: (directory: Int32, name: FileName)
    ) throws(SystemFailure) {
        try from.name.withCString { (source) throws(SystemFailure) in
            try to.name.withCString { (target) throws(SystemFailure) in
                try check("link") { linkat(from.directory, source, to.directory, target, 0) }
            }
        }
    }

    static func unlink(at directory: Int32, _ name: FileName) throws(SystemFailure) {
        try name.withCString { (name) throws(SystemFailure) in try check("unlink") { unlinkat(directory, name, 0) } }
    }

    static func removeDirectory(at directory: Int32, _ name: FileName) throws(SystemFailure) {
        try name.withCString { (name) throws(SystemFailure) in
            try check("rmdir") { unlinkat(directory, name, AT_REMOVEDIR) }
        }
    }

    static func makeDirectory(at directory: Int32, _ name: FileName, mode: mode_t) throws(SystemFailure) {
        try name.withCString { (name) throws(SystemFailure) in try check("mkdir") { mkdirat(directory, name, mode) } }
    }

    static func makeSymlink(at directory: Int32, _ name: FileName, target: [UInt8]) throws(SystemFailure) {
        try withNulTerminated(target) { (target) throws(SystemFailure) in
            try name.withCString { (name) throws(SystemFailure) in
                try check("symlink") { symlinkat(target, directory, name) }
            }
        }
    }

    static func readSymlink(
        at directory: Int32, _ name: UnsafePointer<CChar>, size: Int64
    ) throws(SystemFailure) -> [UInt8] {
        let capacity = max(Int(clamping: size), 255) + 1
        var target = [UInt8](repeating: 0, count: capacity)
        let count = try target.withUnsafeMutableBufferPointer { (buffer) throws(SystemFailure) in
            guard let start = buffer.baseAddress else { throw SystemFailure(EINVAL, "readlink") }
            let text = UnsafeMutableRawPointer(start).assumingMemoryBound(to: CChar.self)
            return try check("readlink") {
                Int32(readlinkat(directory, name, text, capacity))
            }
        }
        return Array(target.prefix(Int(count)))
    }

    static func setTimes(of descriptor: Int32, mtime: FileTime) throws(SystemFailure) {
        let times = [timespec(mtime), timespec(mtime)]
        try check("futimens") { futimens(descriptor, times) }
    }

    static func setTimes(at directory: Int32, _ name: FileName, mtime: FileTime) throws(SystemFailure) {
        let times = [timespec(mtime), timespec(mtime)]
        try name.withCString { (name) throws(SystemFailure) in
            try check("utimensat") { utimensat(directory, name, times, AT_SYMLINK_NOFOLLOW) }
        }
    }

    static func setMode(of descriptor: Int32, _ mode: UInt16) throws(SystemFailure) {
        try check("fchmod") { fchmod(descriptor, mode_t(mode & 0o777)) }
    }

    static func sync(_ descriptor: Int32) throws(SystemFailure) {
        do throws(SystemFailure) {
            try check("fsync") { fsync(descriptor) }
        } catch {
            // A directory on a filesystem that cannot sync one: it has no durability to give.
            if error.code != EINVAL { throw error }
        }
    }

    /// The time now, by the clock that stamps files.
    static func now() -> FileTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return FileTime(seconds: time.tv_sec, nanoseconds: time.tv_nsec)
    }

    /// Blocks this thread.
    static func sleep(nanoseconds: Int64) {
        guard nanoseconds > 0 else { return }
        var left = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        var rest = timespec()
        while nanosleep(&left, &rest) == -1, errno == EINTR { left = rest }
    }

    @discardableResult
    static func withNulTerminated<Value>(
        _ bytes: [UInt8], _ body: (UnsafePointer<CChar>) throws(SystemFailure) -> Value
    ) throws(SystemFailure) -> Value {
        let terminated = bytes + [0]
        return try terminated.withUnsafeBufferPointer { (buffer) throws(SystemFailure) in
            // Never nil: the NUL is in it.
            guard let start = buffer.baseAddress else { throw SystemFailure(EINVAL, "path") }
            return try body(UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self))
        }
    }
}

extension FileName {
    /// Lends the name to a system call.
    @discardableResult
    func withCString<Value>(
        _ body: (UnsafePointer<CChar>) throws(SystemFailure) -> Value
    ) throws(SystemFailure) -> Value {
        try SystemCalls.withNulTerminated(bytes, body)
    }
}

extension timespec {
    /// The same point in time.
    init(_ time: FileTime) { self.init(tv_sec: time.seconds, tv_nsec: time.subsecondNanoseconds) }
}
