import Glibc
import GRDBSQLite
import QuireCore
import Synchronization

@testable import QuireIndex

/// A disk with sectors that cannot be read: SQLite's way to the operating system, on which reading some files fails.
///
/// For the process as a whole, as SQLite knows a default only; files that no test has named are read as ever.
enum FailingReads {
    /// Has reading the index at `path` fail, as it is there now and wherever it is renamed to: `times` times, then no longer. Its
    /// log is read as ever.
    ///
    /// - Returns: its inode, for `end`.
    static func begin(_ path: String, times: Int = .max, code: Int32 = unread) throws -> UInt64 {
        guard isRegistered else { throw TestError("no file system for SQLite") }
        guard let inode = inode(path) else { throw TestError("nothing at \(path)") }
        state.withLock { $0.left[inode] = (times, code) }
        return inode
    }

    /// Has that file read again. To be called before it is removed: its inode comes to another.
    static func end(_ inode: UInt64) { state.withLock { $0.left[inode] = nil } }

    /// Has reading any file of SQLite's below `directory` fail from when it is opened.
    static func begin(below directory: String) throws {
        guard isRegistered else { throw TestError("no file system for SQLite") }
        state.withLock { $0.directories.append(directory + "/") }
    }

    /// Has that directory's files read again.
    static func end(below directory: String) { state.withLock { $0.directories.removeAll { $0 == directory + "/" } } }

    /// What SQLite makes of EBADMSG and EUCLEAN.
    static let unread = SQLITE_IOERR | (1 << 8)
    /// What it makes of EIO, and in most places takes for SQLITE_CORRUPT then.
    static let lost = SQLITE_IOERR | (33 << 8)

    /// Has the system's own way made the default before any index is opened.
    static func prepare() { _ = isRegistered }

    fileprivate struct State {
        /// SQLite's own way of reading.
        fileprivate var read: Read?
        /// Addresses of methods that fail, by those of SQLite's own.
        fileprivate var copies: [UInt: UInt] = [:]
        /// How often reading fails, and how, by the file's inode.
        var left: [UInt64: (times: Int, code: Int32)] = [:]
        var directories: [String] = []
        /// What lies behind SQLite's open files.
        var opened: [UInt: (path: String, inode: UInt64)] = [:]

        /// The code that reading the file fails with this time; nil where it does not.
        mutating func failure(_ file: UInt) -> Int32? {
            guard let (path, inode) = opened[file] else { return nil }
            if directories.contains(where: path.hasPrefix) { return FailingReads.unread }
            guard let (times, code) = left[inode], times > 0 else { return nil }
            left[inode] = (times - 1, code)
            return code
        }
    }

    fileprivate static let state = Lock(State())

    private static func inode(_ path: String) -> UInt64? {
        var status = stat()
        return stat(path, &status) == 0 ? UInt64(status.st_ino) : nil
    }

    private struct System: @unchecked Sendable {
        // Set up once and never changed afterwards.
        let original: UnsafeMutablePointer<sqlite3_vfs>
        let failing: UnsafeMutablePointer<sqlite3_vfs>
    }

    private static let isRegistered: Bool = {
        guard IndexFile.keepsSharedMemoryInProcess, let system else { return false }
        return sqlite3_vfs_register(system.failing, 1) == SQLITE_OK
    }()

    private static let system: System? = {
        guard let original = sqlite3_vfs_find("unix-excl") else { return nil }
        let failing = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        failing.initialize(to: original.pointee)
        failing.pointee.zName = UnsafePointer(strdup("failing-reads"))
        failing.pointee.xOpen = { _, name, file, flags, outFlags in
            guard let system = FailingReads.system, let file else { return SQLITE_CANTOPEN }
            let result = system.original.pointee.xOpen(system.original, name, file, flags, outFlags)
            guard result == SQLITE_OK, flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL) != 0, let name,
                let methods = file.pointee.pMethods
            else { return result }
            let path = String(cString: name)
            let inode = FailingReads.inode(path) ?? 0
            let (key, own) = (UInt(bitPattern: file), UInt(bitPattern: methods))
            let copy = FailingReads.state.withLock { state in
                state.opened[key] = (path, inode)
                return state.failing(own)
            }
            file.pointee.pMethods = UnsafePointer(bitPattern: copy)
            return result
        }
        return System(original: original, failing: failing)
    }()
}

/// How SQLite reads a part of a file.
private typealias Read =
    @convention(c) (UnsafeMutablePointer<sqlite3_file>?, UnsafeMutableRawPointer?, Int32, sqlite3_int64) -> Int32

extension FailingReads.State {
    /// SQLite's own methods of a file, with another for reading. The log's are others than the database's.
    fileprivate mutating func failing(_ own: UInt) -> UInt {
        if let known = copies[own] { return known }
        guard let methods = UnsafePointer<sqlite3_io_methods>(bitPattern: own) else { return own }
        let copy = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        copy.initialize(to: methods.pointee)
        // Both are read the same way.
        read = methods.pointee.xRead
        copy.pointee.xRead = { file, buffer, count, offset in
            let key = UInt(bitPattern: file)
            let (failure, read) = FailingReads.state.withLock { ($0.failure(key), $0.read) }
            if let failure { return failure }
            return read?(file, buffer, count, offset) ?? SQLITE_IOERR
        }
        copies[own] = UInt(bitPattern: copy)
        return UInt(bitPattern: copy)
    }
}
