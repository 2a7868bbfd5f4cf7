import CLinux
import Glibc
import QuireCore

/// The lock that every daemon using the folder takes to compare and publish: `flock` on `.quire/lock`.
package enum FolderLock {
    /// Whether the lock may be one that no other machine knows of, though the folder is on another: FUSE leaves locks to the
    /// kernel here unless a filesystem asks for them, which cannot be seen (sshfs does not; `fuse(4)`, `FUSE_FLOCK_LOCKS`).
    /// NFS and SMB pass them on (flock(2)).
    ///
    /// - Parameter filesystem: its type (`linux/magic.h`).
    package static func mayBeOfThisMachineOnly(on filesystem: Int) -> Bool { filesystem == 0x6573_5546 }

    /// The type of the filesystem that a path is on; nil where that cannot be told. May block.
    package static func filesystem(at path: String) -> Int? {
        var found = statfs()
        return statfs(path, &found) == 0 ? Int(found.f_type) : nil
    }

    /// Runs `body` with the lock held. Each call opens the lock file anew, so calls of one process exclude each other.
    ///
    /// Waits without blocking in the kernel, so that a holder that was stopped cannot keep a cancelled call.
    static func withLock<Value>(
        in control: borrowing OpenFile, _ cancellation: Cancellation, _ body: () throws(ProviderError) -> Value
    ) throws(ProviderError) -> Value {
        let path = FolderSession.controlPath(FolderLayout.lock)
        let directory = control.descriptor
        let file = try ErrnoTranslation.about(path, "locked") { () throws(SystemFailure) in
            try SystemCalls.open(at: directory, FolderLayout.lock, O_RDWR | O_CREAT, mode: 0o666)
        }
        let descriptor = file.descriptor
        var pause: Int64 = 50_000
        while true {
            try cancellation.check()
            do throws(SystemFailure) {
                try SystemCalls.check("flock") { flock(descriptor, LOCK_EX | LOCK_NB) }
                break
            } catch {
                guard error.code == EWOULDBLOCK else { throw ErrnoTranslation.error(error, path, "locked") }
            }
            SystemCalls.sleep(nanoseconds: pause)
            pause = min(pause * 2, 2_000_000)
        }
        defer { _ = flock(descriptor, LOCK_UN) }
        return try body()
    }
}
