import CLinux
import Glibc

/// One daemon's hold on a home: an exclusive lock on `daemon.pid`, which names the process.
///
/// An open file description lock (fcntl(2)): whether it is held can be asked without taking it.
///
/// Held until the value goes away or the process ends, however it ends. Not inherited by programs that are executed.
package final class HomeLock: Sendable {
    private let descriptor: OwnedDescriptor

    private init(_ descriptor: consuming OwnedDescriptor) { self.descriptor = descriptor }

    deinit {
        // The file stays: removing it would let two daemons lock two files of the same name.
        _ = ftruncate(descriptor.rawValue, 0)
    }

    /// Takes the lock at once, or not at all.
    ///
    /// - Throws: `.homeInUse`, naming the other daemon's pid; `.permissionDenied`; `.failed`.
    fileprivate static func acquire(_ home: DriveHome) throws(StoreError) -> HomeLock {
        let file = try OwnedDescriptor.open(home.pidPath, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
        guard try tryLock(file, home) else {
            let owner = readPid(file).map { "by the daemon with pid \($0)" } ?? "by another daemon"
            throw StoreError(
                .homeInUse, "the home \(home.path) is in use \(owner)", errno: EWOULDBLOCK,
                remedy: "Stop it with `quire unmount --home \(home.path)`, or choose another home")
        }
        let text = Array("\(getpid())\n".utf8)
        try systemCall("write", home.pidPath) { ftruncate(file.rawValue, 0) }
        try systemCall("write", home.pidPath) { pwrite(file.rawValue, text, text.count, 0) }
        return HomeLock(file)
    }

    /// The pid of the daemon that holds the home; nil when none does.
    fileprivate static func owner(_ home: DriveHome) throws(StoreError) -> pid_t? {
        let file: OwnedDescriptor
        do {
            file = try OwnedDescriptor.open(home.pidPath, O_RDONLY | O_NOFOLLOW)
        } catch {
            guard error.errno == ENOENT else { throw error }
            return nil
        }
        return try isLocked(file, home) ? readPid(file) ?? 0 : nil
    }

    private static func tryLock(_ file: borrowing OwnedDescriptor, _ home: DriveHome) throws(StoreError) -> Bool {
        do {
            try systemCall("lock", home.pidPath) { quire_lock_file(file.rawValue) }
            return true
        } catch {
            guard error.errno == EWOULDBLOCK || error.errno == EACCES else { throw error }
            return false
        }
    }

    private static func isLocked(_ file: borrowing OwnedDescriptor, _ home: DriveHome) throws(StoreError) -> Bool {
        var answer: Int32 = 0
        try systemCall("ask for the lock on", home.pidPath) {
            answer = quire_file_is_locked(file.rawValue)
            return answer
        }
        return answer == 1
    }

    private static func readPid(_ file: borrowing OwnedDescriptor) -> pid_t? {
        var buffer = [UInt8](repeating: 0, count: 32)
        let count = pread(file.rawValue, &buffer, buffer.count, 0)
        return count > 0 ? pid_t(String(decoding: buffer[..<count].prefix { $0 != 0x0A }, as: UTF8.self)) : nil
    }
}

extension DriveHome {
    /// Takes the home for this process; the layout must be there.
    ///
    /// - Throws: `.homeInUse`, naming the other daemon's pid.
    package func lock() throws(StoreError) -> HomeLock { try HomeLock.acquire(self) }

    /// The pid of the daemon that runs on this home, 0 where it has not yet written it; nil when none does. Takes no lock.
    package func runningDaemon() throws(StoreError) -> Int32? { try HomeLock.owner(self) }
}
