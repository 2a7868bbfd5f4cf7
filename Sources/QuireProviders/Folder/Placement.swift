import CLinux
import Glibc
import QuireCore

/// Moves a staged entry to a name, in the ways that filesystems offer.
enum Placement {
    typealias Place = (directory: Int32, name: FileName)

    /// Renames `from` to `to`, where nothing may be: EEXIST otherwise.
    ///
    /// Where the filesystem cannot rename so, a link is made and the old name removed; a directory, which cannot be
    /// linked, is renamed after a look.
    static func intoFreeName(_ from: Place, to: Place) throws(SystemFailure) {
        do throws(SystemFailure) {
            try SystemCalls.rename(from, to: to, flags: quire_RENAME_NOREPLACE)
            return
        } catch {
            guard isUnsupported(error) else { throw error }
        }
        do throws(SystemFailure) {
            try SystemCalls.link(from, to: to)
            try SystemCalls.unlink(at: from.directory, from.name)
        } catch {
            guard error.code == EPERM || isUnsupported(error) else { throw error }
            if try SystemCalls.status(at: to.directory, to.name) != nil { throw SystemFailure(EEXIST, "rename") }
            try SystemCalls.rename(from, to: to)
        }
    }

    /// Trades the two entries in one step.
    static func exchange(_ one: Place, with other: Place) throws(SystemFailure) {
        try SystemCalls.rename(one, to: other, flags: quire_RENAME_EXCHANGE)
    }

    /// Whether the filesystem has no such form of rename or link.
    static func isUnsupported(_ failure: SystemFailure) -> Bool {
        failure.code == EINVAL || failure.code == ENOSYS || failure.code == ENOTSUP
    }
}
