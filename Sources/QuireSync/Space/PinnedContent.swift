import QuireCore

/// Brings pinned content that is not here: what came into a pinned directory, what was pinned while the provider was away.
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

    /// - Parameter failedAt: by the machine's uptime.
    /// - Returns: what did not come.
    private func attempt(
        sparing failedAt: [ItemID: Duration],
        _ bring: @escaping @Sendable (RelativePath, UInt64) async throws(MaterializeError) -> Void
    ) async -> [ItemID] {
        guard pause.end == nil else { return [] }
        // The disk's trouble is told by the rounds; looked at again with the next change.
        guard let wanted = try? await index.pinnedDataless(limit: Self.page) else { return [] }
        let now = clock.uptime()
        let due = wanted.filter { item in
            item.base != nil && (failedAt[item.entry.id].map { now - $0 >= Self.pause } ?? true)
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
