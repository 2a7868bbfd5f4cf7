import Glibc
import Logging
import QuireCore
import QuireIndex
import QuireStore
import Synchronization

/// Keeps the drive's content within its limits: takes least recently used documents off this device where there is too much,
/// reserves room for downloads, and tells the driver how much programs may still write.
///
/// Without limits it does nothing at all. What can go is what the index says is clean, uploaded and not pinned; each
/// document is evicted by the same compare-and-swap as by `quire evict`, which looks again, and also leaves open ones.
final class SpaceKeeper: Sendable {
    /// Evicts an item; returns false where it could not be.
    typealias Evict = @Sendable (ItemID) async -> Bool
    /// How much of what the index says can go is missing at its provider, and stays, in bytes.
    typealias Missing = @Sendable () async throws -> Int64

    private struct State {
        /// For downloads under way, in bytes.
        var reserved: Int64 = 0
        var refused: [RelativePath: RefusedDownload] = [:]
        var used: Int64 = 0
        var evict: Evict?
        var missing: Missing?
    }

    let limits: SpaceLimits
    private let environment: SyncEnvironment
    private let arriving: ArrivingDocuments
    private let pool: PoolExecutor
    private let logger: Logger
    /// One looks at a time.
    private let gate = AsyncGate()
    /// Innermost lock: nothing else is taken while it is held.
    private let state = Lock(State())

    /// How many files are looked at in one go.
    private static let page = 5000
    /// Between two looks at the file system, which others use as well.
    private static let betweenGlances = Duration.seconds(5)

    init(_ environment: SyncEnvironment, arriving: ArrivingDocuments, pool: PoolExecutor, logger: Logger) {
        limits = environment.limits
        self.environment = environment
        self.arriving = arriving
        self.pool = pool
        self.logger = logger
        guard !limits.isEmpty else { return }
        room.whenShort { [weak self] bytes in await self?.look(for: Int64(bytes)) }
    }

    private var room: WriteRoom { environment.room }

    /// Who takes content off this device.
    ///
    /// - Parameter missing: tells what they refuse to take.
    func setEvict(_ evict: @escaping Evict, missing: @escaping Missing) {
        state.withLock { ($0.evict, $0.missing) = (evict, missing) }
    }

    /// Looks after each change of the index and of the file system's room, until the task is cancelled.
    func run() async {
        guard !limits.isEmpty else { return }
        let (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        change.yield()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [commits = environment.index.commits()] in for await _ in commits { change.yield() } }
            group.addTask { await self.glance(change) }
            group.addTask { await self.follow(changes) }
            await group.waitForAll()
        }
    }

    private func follow(_ changes: AsyncStream<Void>) async {
        for await _ in changes {
            let start = ContinuousClock.now
            await look()
            // Most of the time belongs to what the looks are for; ends early only when the task is cancelled.
            try? await environment.clock.sleep(max(.milliseconds(100), (ContinuousClock.now - start) * 20))
        }
    }

    /// The index hears late of files that the kernel writes alone, and nothing of what others do on the file system.
    private func glance(_ change: AsyncStream<Void>.Continuation) async {
        var last = await freeSpace()
        while !Task.isCancelled {
            do { try await environment.clock.sleep(Self.betweenGlances) } catch { return }
            let free = await freeSpace()
            if abs(free - last) > 1 << 20 { change.yield() }
            last = free
        }
    }

    // MARK: - looking

    /// Finds out how much room there is, makes some where too much is taken, and tells the driver.
    ///
    /// - Parameter more: what a program is about to add, in bytes.
    func look(for more: Int64 = 0) async {
        guard !limits.isEmpty else { return }
        await gate.run {
            do {
                var figures = try await figures()
                // For what does not fit in any case nothing goes.
                let excess = limits.excess(figures, more: limits.admits(more, figures.emptied) ? more : 0)
                if excess > 0, figures.evictable > 0, try await evict(excess) > 0 { figures = try await self.figures() }
                forgetRefusals(figures)
            } catch {
                // Found out with the next change.
                logger.info("the space in use is not known", metadata: ["error": "\(error)"])
            }
        }
    }

    private func figures() async throws -> SpaceFigures {
        let taken = room.taken
        try await environment.index.settle()
        let use = try await environment.index.spaceUse()
        let missing = try await state.withLock { $0.missing }?() ?? 0
        let free = limits.keepFree == nil ? 0 : await freeSpace()
        let parts = arriving.total
        let figures = state.withLock { state in
            state.used = use.here.addingClamped(parts)
            return SpaceFigures(
                used: state.used.addingClamped(state.reserved),
                evictable: max(0, use.evictable - missing).addingClamped(arriving.idle), free: free - state.reserved)
        }
        room.set(
            now: Int(clamping: limits.room(figures)), atMost: Int(clamping: limits.room(figures.emptied)),
            of: limits.limit.map { Int(clamping: $0.bytes) },
            asOf: taken)
        return figures
    }

    /// What is available on the store's file system, in bytes.
    private func freeSpace() async -> Int64 {
        // A store that is gone is told of by everything else.
        await pool.run { [tree = environment.tree] in tree.availableBytes ?? .max / 4 }
    }

    // MARK: - evicting

    /// Evicts least recently used files until `excess` bytes are gone, or no more can go.
    ///
    /// - Returns: how many bytes went.
    private func evict(_ excess: Int64) async throws -> Int64 {
        guard let evict = state.withLock({ $0.evict }) else { return 0 }
        // What nobody is reading any more of documents that did not come whole is worth least.
        var gone = await pool.run { [arriving] in arriving.dropIdle() }
        guard gone < excess else { return gone }
        for file in try await leastRecentlyUsed() where gone < excess {
            if Task.isCancelled { break }
            if await evict(file.id) { gone += file.size }
        }
        logger.info("content taken off this device", metadata: ["bytes": "\(gone)", "wanted": "\(excess)"])
        return gone
    }

    private struct Candidate: Sendable {
        var id: ItemID
        var size: Int64
        var lastUse: Int64
    }

    private func leastRecentlyUsed() async throws -> [Candidate] {
        let tree = environment.tree
        var found: [Candidate] = []
        var last: ItemID?
        while true {
            let files = try await environment.index.evictableFiles(after: last, limit: Self.page)
            guard let end = files.last else { break }
            last = end.id
            found += await pool.run {
                files.map {
                    Candidate(id: $0.id, size: $0.size, lastUse: tree.lastUse(of: $0.path)?.nanoseconds ?? .max)
                }
            }
        }
        return found.sorted { ($0.lastUse, $0.id.rawValue) < ($1.lastUse, $1.id.rawValue) }
    }

    // MARK: - downloads

    /// Whether a download of that size would go in, with nothing evicted for it.
    func hasRoom(for size: ByteCount) async -> Bool {
        guard !limits.isEmpty else { return true }
        return await gate.run {
            do { return limits.admits(size.bytes, try await figures()) } catch { return true }
        }
    }

    /// Whether a download of that size could go in, everything evicted that can be; nothing is reserved.
    ///
    /// - Throws: as `reserve`.
    func admit(_ size: ByteCount, for path: RelativePath) async throws(SyncFailure) {
        guard !limits.isEmpty else { return }
        let outcome: Result<Void, SyncFailure> = await gate.run {
            do {
                let figures = try await figures()
                return limits.admits(size.bytes, figures.emptied) ? .success(()) : .failure(refuse(path, size, figures))
            } catch {
                return .failure(Self.unknown(path, error))
            }
        }
        try outcome.get()
    }

    /// Reserves room for a download, and makes it where there is none.
    ///
    /// - Parameter path: below the drive's root; for what is told of a refusal.
    /// - Returns: to be released when the content is here, or will not come.
    /// - Throws: `.park` with ENOSPC where it does not go in, whatever is evicted.
    func reserve(_ size: ByteCount, for path: RelativePath) async throws(SyncFailure) -> SpaceReservation {
        guard !limits.isEmpty else { return SpaceReservation(.zero) { _ in } }
        // Where the last look left that much, nobody has to look again.
        if room.isLimited, room.take(Int(clamping: size.bytes)) { return reserved(size, for: path) }
        let outcome: Result<SpaceReservation, SyncFailure> = await gate.run {
            do {
                var figures = try await figures()
                // Then nothing goes for it either.
                guard limits.admits(size.bytes, figures.emptied) else { return .failure(refuse(path, size, figures)) }
                let excess = limits.excess(figures, more: size.bytes)
                if excess > 0, figures.evictable > 0, try await evict(excess) > 0 { figures = try await self.figures() }
                guard limits.admits(size.bytes, figures) else { return .failure(refuse(path, size, figures)) }
                room.takeRegardless(Int(clamping: size.bytes))
                return .success(reserved(size, for: path))
            } catch {
                return .failure(Self.unknown(path, error))
            }
        }
        return try outcome.get()
    }

    private func reserved(_ size: ByteCount, for path: RelativePath) -> SpaceReservation {
        state.withLock { state in
            state.reserved += size.bytes
            state.refused[path] = nil
        }
        return SpaceReservation(size) { [weak self] bytes in self?.state.withLock { $0.reserved -= bytes } }
    }

    private static func unknown(_ path: RelativePath, _ error: any Error) -> SyncFailure {
        SyncFailure(.later, "\(path): the space in use is not known: \(error)")
    }

    private func refuse(_ path: RelativePath, _ size: ByteCount, _ figures: SpaceFigures) -> SyncFailure {
        let message = "no room for its \(size): \(limits.words(figures))"
        let now = environment.clock.now()
        state.withLock { state in
            let since = state.refused[path]?.since ?? now
            state.refused[path] = RefusedDownload(path: path, size: size, message: message, since: since)
        }
        return SyncFailure(.park, "\(path): \(message)", errno: ENOSPC)
    }

    /// Why the document at a path was not brought; nil where nothing was refused. Below the drive's root.
    func refusal(of path: RelativePath) -> String? { state.withLock { $0.refused[path]?.message } }

    private func forgetRefusals(_ figures: SpaceFigures) {
        let (limits, emptied) = (limits, figures.emptied)
        state.withLock { state in
            state.refused = state.refused.filter { !limits.admits($0.value.size.bytes, emptied) }
        }
    }

    // MARK: - status

    /// How the drive stands with its limits; nil where it has none.
    func report() async -> SpaceReport? {
        guard !limits.isEmpty else { return nil }
        await look()
        let (used, refused) = state.withLock { ($0.used, Array($0.refused.values)) }
        return SpaceReport(
            used: ByteCount(max(0, used)), limits: limits, left: ByteCount(Int64(room.report?.left ?? 0)),
            refused: refused.sorted { $0.path.bytes.lexicographicallyPrecedes($1.path.bytes) })
    }
}

extension SpaceLimits {
    /// Why nothing more goes in.
    fileprivate func words(_ figures: SpaceFigures) -> String {
        let fixed = ByteCount(max(0, figures.used - figures.evictable))
        if let limit, figures.used - figures.evictable > 0 {
            return "the drive's limit is \(limit), and \(fixed) are pinned, open, or not at the provider"
        }
        if let limit, keepFree == nil { return "the drive's limit is \(limit)" }
        return "\(keepFree ?? .zero) are to stay free on the store's file system"
    }
}
