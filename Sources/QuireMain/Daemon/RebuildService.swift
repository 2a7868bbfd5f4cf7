import Logging
import QuireCore
import QuireIndex
import QuireSync
import ServiceLifecycle

/// Has the rest of the daemon follow when the index turns out to be damaged and begins anew.
///
/// ```
/// new file ─▶ running queries end as outdated ─▶ engines broken off ─▶ events say again what providers have
///          ─▶ whole rescan done ─▶ bindings noted ─▶ engines begin anew
/// ```
struct RebuildService: Service {
    let index: DriveIndex
    let queries: LiveQueries
    let sync: SyncService
    /// Notes which provider keeps which container, and says of which it cannot.
    let renewBindings: @Sendable () async -> [String]
    let logger: Logger

    /// How long until a store that could not be read is read again.
    private static let pause = Duration.seconds(5)

    func run() async {
        await runUntilShutdown("the index that is built anew", logger) {
            for await rebuild in index.index.rebuilds {
                await follow(rebuild)
                if Task.isCancelled { break }
            }
        }
    }

    private func follow(_ rebuild: IndexRebuild) async {
        queries.restart()
        await sync.hold { [logger] hanging in
            logger.warning(
                "the index is built anew when a call comes back; until then nothing is sent or brought here",
                metadata: ["providers": "\(hanging.joined(separator: ", "))"])
        }
        index.index.takeBases(after: rebuild)
        while let report = await index.index.rescanFinished(), let failure = report.failure {
            logger.warning("the index cannot be built anew yet", metadata: ["error": "\(failure)"])
            // Cancelled: the daemon ends, and the next one goes on.
            guard (try? await Task.sleep(for: Self.pause)) != nil else { break }
            index.index.beginRescan()
        }
        await finish()
        logger.notice("the index was built anew", metadata: ["aside": "\(rebuild.setAside)"])
    }

    /// Has the engines begin anew, whatever could not be noted: who holds them is nobody else's to know.
    func finish() async {
        for note in await renewBindings() { logger.warning("\(note)") }
        do {
            try await sync.beginAnew()
        } catch {
            logger.warning("a pause is not known to the next daemon", metadata: ["error": "\(error)"])
        }
    }
}
