import Glibc
import QuireCore
import QuireIndex
import QuireStore

/// The last guard of documents whose only content is at the provider: zeros are not sent over it unless somebody wrote them.
extension ChangeSender {
    /// Whether the file may be a placeholder that has lost its mark, as in a copy whose tool leaves extended attributes out:
    /// size and time are those of the provider's version, and all is zeros. What a program writes has another time.
    func mayHaveLostMark(_ change: PendingChange, _ local: LocalEntry) async throws(SyncFailure) -> Bool {
        guard let base = change.base, base.kind == .file, local.facts.kind == .file, local.facts.size == base.size,
            local.facts.mtime == base.mtime
        else { return false }
        let (path, tree) = (context.drivePath(local.path), context.tree)
        return try await context.store { () throws(StoreError) in
            let file = try tree.openForReading(path)
            let status = try file.status()
            guard status.size == base.size else { return false }
            do throws(UnreadableContent) {
                return try PlaceholderMark.isZeros(file.rawValue, status)
            } catch {
                throw StoreError(errno: error.errno, "read", path.description)
            }
        }
    }

    /// What is told then.
    static func lostMark(_ local: LocalEntry) -> SyncFailure {
        SyncFailure(
            .parkUntilChanged,
            "\(local.path) is nothing but zeros, with size and time of the provider's version: they are not sent over it, as "
                + "a copied placeholder looks so. If they are meant, touch the file")
    }
}
