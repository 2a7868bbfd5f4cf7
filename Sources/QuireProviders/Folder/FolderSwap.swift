import Glibc
import QuireCore

/// Puts a staged entry in the place of the expected version, without losing what another program writes meanwhile.
///
/// ```
/// tmp/swap-…  ours            displaced ──▶ is it the expected version?  yes: removed by the caller
///                 ╲ EXCHANGE ╱                                           no:  exchanged back, conditionFailed
/// docs/a.txt  theirs           ours
/// ```
///
/// The caller holds the folder's lock, which other daemons respect and other programs do not.
struct FolderSwap {
    let path: RelativePath
    let place: Placement.Place
    let temporary: Int32
    let hooks: FolderHooks
    let versions: FolderVersion

    /// What stays in `tmp` when a swap has ended, for the caller to deal with.
    enum Leftover {
        /// The expected version, displaced; it may go.
        case displaced(FileName, FileFacts)
        /// Ours was taken back; the condition failed.
        case withdrawn(FileName)
        /// Bytes of somebody; to be kept. The condition failed.
        case doubtful(FileName)
        /// Nothing, and the condition failed.
        case nothing
        /// Nothing: the entry was replaced in one step without an exchange.
        case replaced
    }

    /// What is at the place now, if it has `version`.
    ///
    /// - Throws: `.conditionFailed` for anything else; `.failed` while a program has it open for writing.
    func expected(_ version: ProviderVersion) throws(ProviderError) -> FileFacts {
        let facts = try ErrnoTranslation.about(path, "read") { () throws(SystemFailure) in
            try SystemCalls.status(at: place.directory, place.name)
        }
        guard let facts, versions.version(of: facts) == version else { throw ProviderError.refused(path) }
        if facts.kind == .file, WriterProbe.hasWriter(at: place.directory, place.name) { throw WriterProbe.busy(path) }
        return facts
    }

    /// Exchanges `staged` with what is at the place, which was seen to be `expected`.
    func replace(
        expected: FileFacts, version: ProviderVersion, staged: FileName, facts: FileFacts
    ) throws(SystemFailure) -> Leftover {
        let swap = FolderLayout.swapName(staged: facts.inode, displacing: version)
        try SystemCalls.rename((temporary, staged), to: (temporary, swap))
        hooks.beforeSwap?(path)
        do throws(SystemFailure) {
            try Placement.exchange((temporary, swap), with: place)
        } catch {
            if Placement.isUnsupported(error) { return try replaceWithoutExchange(expected, swap) }
            if error.code == ENOENT { return .withdrawn(swap) }
            try? SystemCalls.unlink(at: temporary, swap)
            throw error
        }
        return try settle(swap, ours: facts, expected: expected)
    }

    /// Moves the entry at the place, which was seen to be `expected`, out of the way into `tmp`.
    func remove(expected: FileFacts, version: ProviderVersion) throws(SystemFailure) -> Leftover {
        let swap = FolderLayout.swapName(staged: 0, displacing: version)
        hooks.beforeSwap?(path)
        try SystemCalls.rename(place, to: (temporary, swap))
        guard let moved = try SystemCalls.status(at: temporary, swap) else { return .nothing }
        if isAsExpected(moved, expected, swap) { return .displaced(swap, moved) }
        hooks.beforeUndo?(path)
        do throws(SystemFailure) {
            try Placement.intoFreeName((temporary, swap), to: place)
            return .nothing
        } catch {
            return .doubtful(swap)
        }
    }

    private func isAsExpected(_ found: FileFacts, _ expected: FileFacts, _ name: FileName) -> Bool {
        guard found.isSameContent(as: expected) else { return false }
        guard found.kind == .file else { return true }
        if WriterProbe.hasWriter(at: temporary, name) { return false }
        // A writer may have written and closed between the look and the probe.
        guard let again = try? SystemCalls.status(at: temporary, name) else { return false }
        return again.isSameContent(as: expected)
    }

    private func settle(_ swap: FileName, ours: FileFacts, expected: FileFacts) throws(SystemFailure) -> Leftover {
        guard let displaced = try SystemCalls.status(at: temporary, swap) else { return .nothing }
        if isAsExpected(displaced, expected, swap) { return .displaced(swap, displaced) }
        hooks.beforeUndo?(path)
        // What lies in `tmp` goes back. If what comes out is not what was put in just before, a program replaced that
        // in the meantime: then what came out is the newest, and goes back in turn.
        var placed = ours
        var holding = displaced
        for round in 0..<16 {
            do throws(SystemFailure) {
                try Placement.exchange((temporary, swap), with: place)
            } catch {
                // The name was removed meanwhile. What was taken from it must not go with it.
                return .doubtful(swap)
            }
            guard let out = try SystemCalls.status(at: temporary, swap) else { return .nothing }
            if out.isSameContent(as: placed) { return round == 0 ? .withdrawn(swap) : .doubtful(swap) }
            placed = holding
            holding = out
        }
        return .doubtful(swap)
    }

    private func replaceWithoutExchange(_ expected: FileFacts, _ swap: FileName) throws(SystemFailure) -> Leftover {
        guard let now = try SystemCalls.status(at: place.directory, place.name), now.isSameContent(as: expected) else {
            return .withdrawn(swap)
        }
        try SystemCalls.rename((temporary, swap), to: place)
        return .replaced
    }
}
