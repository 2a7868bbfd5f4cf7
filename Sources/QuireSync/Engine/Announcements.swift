import Logging
import QuireCore
import Synchronization

/// Where this device has changed something at the provider that others have not been told of.
///
/// That there is something is written down before the first change: a daemon that ended before it told has the others look at
/// everything. Only their speed depends on it, and the times that they show of documents where listings have none.
final class Announcements: Sendable {
    private struct State {
        var changes: [RelativePath: AnnouncedChange] = [:]
        var isEverything = false
        var isWrittenDown = false
        var hasLookedBack = false
        /// After telling failed.
        var backoff = Backoff()
        /// By the machine's uptime.
        var notBefore = Duration.zero
    }

    /// Innermost lock: nothing else is taken while it is held.
    private let state = Lock(State())

    private static func key(_ context: SyncContext) -> String { "announce.\(context.container.id)" }

    /// Something is about to be changed.
    ///
    /// - Parameter paths: of the provider; nil where more may change than one would name.
    func note(_ paths: [RelativePath]?, _ context: SyncContext) async {
        guard context.provider.capabilities.announcements else { return }
        await lookBack(context)
        let isFirst = state.withLock { state in
            for path in paths ?? [] { state.changes[path] = AnnouncedChange(path) }
            if paths == nil { state.isEverything = true }
            defer { state.isWrittenDown = true }
            return !state.isWrittenDown
        }
        if isFirst { await write("1", context) }
    }

    /// A document was sent: its attributes are told as well, where the provider tells nobody.
    func sent(_ path: RelativePath, _ version: ProviderVersion, _ attributes: RemoteAttributes, _ context: SyncContext)
    {
        let capabilities = context.provider.capabilities
        guard capabilities.announcements, !capabilities.attributes else { return }
        state.withLock { $0.changes[path] = AnnouncedChange(path, version, attributes) }
    }

    /// Tells the others, where there is something to tell. After it failed, not before a pause that grows.
    ///
    /// - Parameter isUrgent: without the pause.
    func tell(_ context: SyncContext, isUrgent: Bool) async throws(SyncFailure) {
        guard context.provider.capabilities.announcements else { return }
        await lookBack(context)
        // What is still on its way is told once it is there.
        let coming = Set(context.beside.all.flatMap(\.places))
        let (changes, isEverything, notBefore) = state.withLock { state in
            (state.changes.filter { !coming.contains($0.key) }, state.isEverything, state.notBefore)
        }
        guard isEverything || !changes.isEmpty, isUrgent || context.clock.uptime() >= notBefore else { return }
        do throws(SyncFailure) {
            try await context.ask { () throws(ProviderError) in
                try await context.provider.announce(isEverything ? nil : Array(changes.values))
            }
        } catch {
            let random = context.clock.random()
            state.withLock { state in
                let pause = state.backoff.next(limit: context.settings.longestBackoff, random: random)
                state.notBefore = context.clock.uptime() + pause
            }
            throw error
        }
        let isDone = state.withLock { state in
            for (path, change) in changes where state.changes[path] == change { state.changes[path] = nil }
            if isEverything { state.isEverything = false }
            (state.backoff, state.notBefore) = (Backoff(), .zero)
            let isDone = state.changes.isEmpty && !state.isEverything
            if isDone { state.isWrittenDown = false }
            return isDone
        }
        if isDone { await write(nil, context) }
    }

    /// What an earlier daemon did not tell.
    private func lookBack(_ context: SyncContext) async {
        guard state.withLock({ !$0.hasLookedBack }) else { return }
        do {
            let isOwed = try await context.index.value(Self.key(context)) != nil
            state.withLock { state in
                state.hasLookedBack = true
                // What is written down may be this daemon's own.
                if isOwed, !state.isWrittenDown {
                    state.isEverything = true
                    state.isWrittenDown = true
                }
            }
        } catch {
            context.logger.info("the index cannot be read", metadata: ["error": "\(error)"])
        }
    }

    private func write(_ value: String?, _ context: SyncContext) async {
        do {
            try await context.index.setValue(Self.key(context), value)
        } catch {
            context.logger.info("what is owed to other devices is not written down", metadata: ["error": "\(error)"])
        }
    }
}
