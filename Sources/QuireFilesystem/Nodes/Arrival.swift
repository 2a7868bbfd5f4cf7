import CFuse
import Glibc
import QuireCore
import Synchronization

/// How a handle reads a document that is still arriving: from what has come, until the document is here as a whole or was
/// emptied; then from the file itself.
final class Arrival: Sendable {
    let content: any ArrivingContent
    /// When the document last changed, as programs saw it before its content came.
    private let modified, changed: timespec
    /// Innermost lock.
    private let file = Lock<Descriptor?>(nil)

    /// - Parameter status: of the placeholder.
    init(_ content: any ArrivingContent, _ status: stat) {
        self.content = content
        (modified, changed) = (status.st_mtim, status.st_ctim)
    }

    /// What programs that read it are shown: that its content has come is no change of the document, and what is on its way
    /// is no hole.
    func shown(_ status: stat) -> stat {
        var shown = status
        if settled == nil { shown.st_blocks = (status.st_size + 511) / 512 }
        if status.st_mtim.tv_sec == modified.tv_sec, status.st_mtim.tv_nsec == modified.tv_nsec {
            shown.st_ctim = changed
        }
        return shown
    }

    /// The file to read instead; nil while the content is arriving.
    var settled: Descriptor? { file.withLock { $0 } }

    /// Whether what it reads so far is that file. Looks at its status.
    func reads(_ inode: UInt64) -> Bool {
        guard settled == nil else { return false }
        var status = stat()
        return fstat(content.descriptor, &status) == 0 && UInt64(status.st_ino) == inode
    }

    /// What has been read so far, open once more; nil where no descriptor is left.
    func duplicate() -> Descriptor? {
        let raw = fcntl(content.descriptor, F_DUPFD_CLOEXEC, 0)
        return raw >= 0 ? Descriptor(owning: raw) : nil
    }

    /// From now on `descriptor` is read.
    func settle(at descriptor: Descriptor) { file.withLock { $0 = $0 ?? descriptor } }
}
