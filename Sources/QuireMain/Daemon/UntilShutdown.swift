import Logging
import QuireTransport
import ServiceLifecycle

/// For how long what asks providers is waited for once the daemon shuts down.
private let patience = Duration.seconds(5)

/// Runs `body` until the daemon shuts down; it is cancelled then.
///
/// It may be in the middle of a call that never comes back, as to a folder on a share that is gone: it is left to itself
/// soon, so that the drive can be mounted again.
func runUntilShutdown(_ what: String, _ logger: Logger, _ body: @escaping @Sendable () async -> Void) async {
    let (ended, over) = (CancelSignal(), CancelSignal())
    let running = Task {
        await body()
        ended.fire()
        over.fire()
    }
    await withTaskGroup(of: Void.self) { group in
        group.addTask { await over.wait() }
        // Cancelled when the body ends first.
        group.addTask { try? await gracefulShutdown() }
        await group.next()
        group.cancelAll()
    }
    running.cancel()
    let alarm = Task {
        // Cancelled when the body ends first.
        try? await Task.sleep(for: patience)
        over.fire()
    }
    // Of its own: it is waited for also where this task is cancelled.
    await Task { await over.wait() }.value
    alarm.cancel()
    if !ended.isFired { logger.warning("\(what) waited for a provider that does not answer; it is left alone") }
}
