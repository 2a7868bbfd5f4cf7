import Glibc
package import QuireCore
import QuireStore

extension DriveMount: LocalTreeCommitter {
    package func commit(_ change: LocalChange) throws(LocalChangeError) -> LocalChangeResult {
        try driver.commit(change)
    }

    package func isOpenForWriting(inode: UInt64) -> Bool {
        driver.table.locked { state in (state.byInode[inode]?.writers ?? 0) > 0 }
    }

    package func changesVisible() async { await driver.notifier.delivered() }

    /// Records what programs wrote through handles that are still open, or closed a moment ago.
    package func reportWrites() { driver.reportWrites() }

    package var isBusy: Bool { driver.load.isBusy }
}
