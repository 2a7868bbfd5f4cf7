import Logging
import QuireCore
import Synchronization

/// Where this device has changed something at the provider that others have not been told of.
///
/// That there is something is written down before the first change: a daemon that ended before it told has the others look at
/// everything. Only their speed depends on it.
final class Announcements: Sendable {
    private struct State {
        var paths: Set<RelativePath> = []
        var isEverything = false
        var isWrittenDown = false
        var hasLookedBack = false
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
            if let paths { state.paths.formUnion(paths) } else { state.isEverything = true }
            defer { state.isWrittenDown = true }
            return !state.isWrittenDown
        }
        if isFirst { await write("1", context) }
    }

    /// Tells the others, where there is something to tell.
    func tell(_ context: SyncContext) async throws(SyncFailure) {
        guard context.provider.capabilities.announcements else { return }
        await lookBack(context)
        let (paths, isEverything) = state.withLock { ($0.paths, $0.isEverything) }
        guard isEverything || !paths.isEmpty else { return }
        try await context.ask { () throws(ProviderError) in
            try await context.provider.announce(isEverything ? nil : Array(paths))
        }
        let isDone = state.withLock { state in
            state.paths.subtract(paths)
            if isEverything { state.isEverything = false }
            let isDone = state.paths.isEmpty && !state.isEverything
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
