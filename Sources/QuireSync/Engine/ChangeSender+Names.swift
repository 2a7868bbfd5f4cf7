import QuireCore
import QuireIndex

/// Names at providers that take several names for one (`NameFolding`).
extension ChangeSender {
    /// Runs what makes something new at a place, unless the place has another document by another name.
    func making(_ path: RelativePath, _ body: () async throws(SyncFailure) -> Void) async throws(SyncFailure) {
        try await checkName(path)
        do throws(SyncFailure) {
            try await body()
        } catch {
            // Without identifiers nothing tells whose document is there.
            guard error.remedy == .look, context.provider.capabilities.stableIdentifiers else { throw error }
            let there = try await context.ask { () throws(ProviderError) in
                try await context.provider.item(at: path)
            }
            guard let there, let other = try await context.otherName(of: there) else { throw error }
            throw Self.taken(path, other, .park)
        }
    }

    private static func taken(
        _ path: RelativePath, _ other: FileName, _ remedy: SyncFailure.Remedy
    ) -> SyncFailure {
        SyncFailure(
            remedy,
            "\(path) stays on this device: the provider takes its name and \(other) for the same; rename one of them"
        )
    }

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
        throw Self.taken(path, other.name, other.isDeleted ? .later : .park)
    }

    /// Whether two places are one to the provider.
    func isOnePlace(_ one: RelativePath, _ other: RelativePath) -> Bool {
        let folding = context.provider.capabilities.folding
        guard !folding.isEmpty, one != other, one.parent == other.parent, let first = one.name, let second = other.name
        else { return false }
        return FoldedName(first, folding) == FoldedName(second, folding)
    }
}

extension SyncContext {
    /// The name in the same directory whose document this is, where the provider has answered with it for another name as
    /// well: some take more names for one than `NameFolding` tells. Found where the provider has identifiers.
    func otherName(of item: RemoteItem) async throws(SyncFailure) -> FileName? {
        guard let identifier = item.identifier, let directory = item.path.parent else { return nil }
        let names: [BaseName]
        do { names = try await index.baseNames(container.id, in: directory) } catch {
            throw SyncFailure(.later, "\(error)")
        }
        let other = names.first {
            $0.name != item.path.name && $0.identifier == identifier && $0.version == item.version
        }
        guard let other else { return nil }
        // It may have been moved.
        let there = try await ask { () throws(ProviderError) in
            try await provider.item(at: directory.appending(other.name))
        }
        return there?.identifier == identifier ? other.name : nil
    }
}
