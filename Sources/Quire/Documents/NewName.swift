import CLinux
import Foundation
import Glibc

/// Names for what was built under another one, where nothing has them. Blocks on the file system.
enum NewName {
    /// Gives `target`'s name to what is at `staged`, beside it, in one step.
    ///
    /// - Parameter inOneCall: whether that is tried; where the file system cannot do it, the name is taken by something empty
    ///   first, of which nothing stays where the second step fails.
    /// - Returns: false where something has the name.
    /// - Throws: `CocoaError` for what the file system refuses.
    static func give(to staged: URL, _ target: URL, inOneCall: Bool = true) throws -> Bool {
        if inOneCall {
            if quire_renameat2(AT_FDCWD, staged.path, AT_FDCWD, target.path, quire_RENAME_NOREPLACE) == 0 {
                return true
            }
            if errno == EEXIST { return false }
            guard [EINVAL, ENOSYS, EOPNOTSUPP].contains(errno) else { throw FileWrapper.failure(errno, target) }
        }
        var status = stat()
        try WrapperWriter.check(lstat(staged.path, &status), staged)
        let isDirectory = status.st_mode & S_IFMT == S_IFDIR
        guard take(target, isDirectory) else {
            if errno == EEXIST { return false }
            throw FileWrapper.failure(errno, target)
        }
        // What somebody has written to it since is his.
        guard isDirectory || lstat(target.path, &status) == 0 && status.st_size == 0 else { return false }
        guard rename(staged.path, target.path) == 0 else {
            let failure = FileWrapper.failure(errno, target)
            if isDirectory {
                rmdir(target.path)
            } else if lstat(target.path, &status) == 0, status.st_size == 0 {
                unlink(target.path)
            }
            throw failure
        }
        return true
    }

    private static func take(_ target: URL, _ isDirectory: Bool) -> Bool {
        if isDirectory { return mkdir(target.path, 0o700) == 0 }
        let descriptor = open(target.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return false }
        close(descriptor)
        return true
    }
}
