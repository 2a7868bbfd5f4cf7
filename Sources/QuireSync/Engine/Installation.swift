import QuireCoordination
import QuireCore
import QuireStore
import Synchronization

/// What comes from the provider and is made in the staging directory, then installed from there.
struct Installation: Sendable {
    /// Below the drive's root.
    let path: RelativePath
    let content: Content
    let expecting: LocalChange.Expectation
    let base: BaseRecord
    /// See `LocalChange`.
    let within: UInt64?

    /// What is made.
    enum Content: Sendable {
        /// A document without its content, of a size greater than 0.
        case placeholder(Placeholder, size: ByteCount, mtime: FileTime, mode: UInt16)
        case empty(mtime: FileTime, mode: UInt16)
        case link(target: [UInt8], mtime: FileTime)
    }

    /// As a coordinator sees it.
    var accesses: [Access] { change(staged: "").accesses }

    /// Makes them, writes them through to the disk and installs them, in order; each succeeds or fails for itself. Blocks.
    ///
    /// - Parameters:
    ///   - turn: where others do so at the same time.
    ///   - isClaimed: else what comes once somebody coordinates is `.busy`.
    ///   - mayCommit: asked before each is installed; what may not be is `.busy`.
    static func perform(
        _ all: [Installation], _ staging: Staging, _ committer: any LocalTreeCommitter,
        turn: InstallationTurn = InstallationTurn(), isClaimed: Bool, mayCommit: () -> Bool = { true }
    ) -> [Result<LocalChangeResult, SyncFailure>] {
        let staged = all.map { one in
            Result { () throws(StoreError) in try one.stage(in: staging) }.mapError { SyncFailure($0) }
        }
        let unwritten = zip(all, staged).compactMap { $0.isDataless ? try? $1.get() : nil }
        let written = Result { () throws(StoreError) in try staging.writeThrough(unwritten) }
            .mapError { SyncFailure($0) }
        return turn.take {
            zip(all, staged).map { one, staged in
                staged.flatMap { path in
                    let result = (one.isDataless ? written : .success(())).flatMap {
                        mayCommit() ? one.commit(path, to: committer, isClaimed) : .success(.busy)
                    }
                    if case .success(.done) = result { return result }
                    staging.discard(path)
                    return result
                }
            }
        }
    }

    private func commit(
        _ staged: String, to committer: any LocalTreeCommitter, _ isClaimed: Bool
    ) -> Result<LocalChangeResult, SyncFailure> {
        var change = change(staged: staged)
        change.yieldsToApps = !isClaimed
        return Result { () throws(LocalChangeError) in try committer.commit(change) }.mapError { SyncFailure($0) }
    }

    private var isDataless: Bool { if case .placeholder = content { true } else { false } }

    private func change(staged: String) -> LocalChange {
        LocalChange(
            path: path, .install(stagedPath: staged, dataless: isDataless), expecting: expecting, base: base,
            within: within)
    }

    /// - Returns: the absolute path of what it made, which of a placeholder is not written through yet.
    private func stage(in staging: Staging) throws(StoreError) -> String {
        switch content {
        case .placeholder(let mark, let size, let mtime, let mode):
            try Placeholder.stage(mark, size: size, mtime: mtime, mode: mode, in: staging)
        case .empty(let mtime, let mode): try staging.createEmpty(mtime: mtime, mode: mode)
        case .link(let target, let mtime): try staging.createLink(target: target, mtime: mtime)
        }
    }
}

/// Has those who install many at one go do it one after the other: each change is made alone in the store, and to wait for every
/// one of another's takes longer than they do. What one has installed meanwhile, another has staged.
final class InstallationTurn: Sendable {
    /// Outermost; no request of a program waits for it.
    private let turn = Lock(())

    /// Blocks until it is the caller's.
    func take<Value>(_ body: () -> Value) -> Value { turn.withLock { _ in body() } }
}
