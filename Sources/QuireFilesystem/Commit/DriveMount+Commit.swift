import CFuse
import Glibc
package import QuireCore
import QuireStore

extension DriveMount: LocalTreeCommitter {
    package func commit(_ change: LocalChange) throws(LocalChangeError) -> LocalChangeResult {
        try driver.commit(change)
    }

    package func isOpenForWriting(inode: UInt64) -> Bool {
        driver.table.mappings.contains(inode)
            || driver.table.locked { state in (state.byInode[inode]?.writers ?? 0) > 0 }
    }

    package func changesVisible() async { await driver.notifier.delivered() }

    /// Records what programs wrote through handles that are still open, or closed a moment ago.
    package func reportWrites() { driver.reportWrites() }

    /// Returns when the operations of programs that were begun before have recorded what they did. Short.
    package func finishOperations() { driver.finishOperations() }

    /// Whether there is a directory at `path` in the store now.
    package func isDirectory(_ path: RelativePath) -> Bool {
        var status = stat()
        guard lstat("\(driver.tree.rootPath)/\(String(decoding: path.bytes, as: UTF8.self))", &status) == 0 else {
            return false
        }
        return status.st_mode & S_IFMT == S_IFDIR
    }

    package var isBusy: Bool { driver.load.isBusy }
}
