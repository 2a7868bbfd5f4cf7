import QuireCore

/// Brings content that is to be here and is not: what came into a pinned directory, what was pinned while the provider was
/// away, what got the name of a backup while the daemon was stopped and lost its place to another document: the provider has
/// the only content of that, at this very place.
struct PinnedContent: Sendable {
    let index: any SyncIndex
    let settings: SyncSettings
    let clock: SyncClock
    let pause: PauseSwitch

    /// Before another attempt at what failed.
    private static let pause = Duration.seconds(60)
    /// Between two looks.
    private static let rest = Duration.milliseconds(500)
    private static let page = 256

    /// Looks after each change of the index, until the task is cancelled.
    ///
    /// - Parameter bring: downloads one file, by its path below the drive's root and its inode in the store.
    func run(_ bring: @escaping @Sendable (RelativePath, UInt64) async throws(MaterializeError) -> Void) async {
        let (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        change.yield()
        await withDiscardingTaskGroup { group in
            group.addTask { [commits = index.commits()] in for await _ in commits { change.yield() } }
            var failedAt: [ItemID: Duration] = [:]
            for await _ in changes {
                let failed = await attempt(sparing: failedAt, bring)
                // Ends early only when the task is cancelled.
                try? await clock.sleep(Self.rest)
                let now = clock.uptime()
                failedAt = failedAt.filter { now - $0.value < Self.pause }
                guard !failed.isEmpty else { continue }
                for item in failed { failedAt[item] = now }
                group.addTask {
                    // Ends early only when the task is cancelled.
                    try? await clock.sleep(Self.pause)
                    change.yield()
                }
            }
            group.cancelAll()
        }
    }

    /// Brings what is kept on this device only, of what is wanted first: what takes its place at the provider is refused there
    /// until it is here. What does not come now is left to `run`.
    func bringBackups(
        _ bring: @escaping @Sendable (RelativePath, UInt64) async throws(MaterializeError) -> Void
    ) async {
        _ = await attempt(where: \.entry.isLocalOnly, bring)
    }

    /// - Parameter failedAt: by the machine's uptime.
    /// - Returns: what did not come.
    private func attempt(
        where isWanted: (IndexedItem) -> Bool = { _ in true }, sparing failedAt: [ItemID: Duration] = [:],
        _ bring: @escaping @Sendable (RelativePath, UInt64) async throws(MaterializeError) -> Void
    ) async -> [ItemID] {
        guard pause.end == nil else { return [] }
        // The disk's trouble is told by the rounds; looked at again with the next change.
        guard let wanted = try? await index.datalessToBring(limit: Self.page) else { return [] }
        let now = clock.uptime()
        let due = wanted.filter { item in
            item.base != nil && isWanted(item) && (failedAt[item.entry.id].map { now - $0 >= Self.pause } ?? true)
        }
        let failed = await forEach(due, limit: settings.parallelTransfers) { item -> ItemID? in
            do throws(MaterializeError) {
                try await bring(item.drivePath, item.entry.fingerprint.inode)
                return nil
            } catch {
                return item.entry.id
            }
        }
        return failed.compactMap(\.self)
    }
}
