import QuireCore
import QuireIndex

/// Names at providers that take several names for one (`NameFolding`).
extension ChangeSender {
    /// Makes sure that nothing else is in a place by another name that is the same to the provider: what is sent there would
    /// take its place, or be taken for it.
    ///
    /// What other devices have put there and nobody here has seen yet is kept by the conditions of whatever is sent.
    /// - Parameter present: where the item itself is at the provider now.
    /// - Throws: `.park`; `.later` while the other is to be deleted.
    func checkName(_ path: RelativePath, of present: RelativePath? = nil) async throws(SyncFailure) {
        let folding = context.provider.capabilities.folding
        guard !folding.isEmpty, let name = path.name, let directory = path.parent else { return }
        let names: [BaseName]
        do {
            try await context.index.settle()
            names = try await context.index.baseNames(context.container.id, in: directory)
        } catch {
            throw SyncFailure(.later, "\(error)")
        }
        let folded = FoldedName(name, folding)
        let other = names.first { other in
            other.name != name && directory.appending(other.name) != present
                && FoldedName(other.name, folding) == folded
        }
        guard let other else { return }
        throw SyncFailure(
            other.isDeleted ? .later : .park,
            "\(path) stays on this device: the provider takes its name and \(other.name) for the same; rename one of them"
        )
    }

    /// Whether two places are one to the provider.
    func isOnePlace(_ one: RelativePath, _ other: RelativePath) -> Bool {
        let folding = context.provider.capabilities.folding
        guard !folding.isEmpty, one != other, one.parent == other.parent, let first = one.name, let second = other.name
        else { return false }
        return FoldedName(first, folding) == FoldedName(second, folding)
    }
}
