import Glibc
import Logging
import QuireCoordination
import QuireCore
import QuireFilesystem
import QuireIndex
import QuireStore
import QuireSync
import QuireTransport
import ServiceLifecycle
import UnixSignals

/// The daemon of one drive: opens its parts in order, serves until it is told to stop, closes them in reverse.
///
/// ```
/// home (lock) ─ config ─ index ─┬─ mount ──────────┐
/// coordinator ──────────────────┤   ▲ commits      ├─ control socket
/// providers ────────────────────┴─ sync engines ───┘
/// ```
enum Daemon {
    /// Returns when the drive is unmounted.
    ///
    /// - Parameter report: told once, when the drive answers.
    static func run(_ plan: MountPlan, report: LaunchReport, log: DaemonLog = .terminal) async throws {
        // That a peer is gone is an error of the write, not the daemon's end.
        _ = signal(SIGPIPE, SIG_IGN)
        ProcessLimits.shapeHeap()
        ProcessLimits.raiseDescriptors()
        let logger = log.logger(verbose: plan.verbose || plan.options.debug)
        let mountpoint = try plan.check()
        let home = try OpenHome(plan.location)
        if !home.unknownKeys.isEmpty {
            logger.warning("unknown keys in the configuration", metadata: ["keys": "\(home.unknownKeys)"])
        }
        let parts = try await DriveParts.open(home, plan: plan, mountpoint: mountpoint, logger: logger)
        for note in parts.notes { logger.warning("\(note)") }
        do {
            try await serve(parts, logger, report, log)
        } catch {
            logger.error("the daemon ends", metadata: ["error": "\(error)"])
            await MountService(mount: parts.mount, logger: logger).unmount()
            try await parts.close()
            throw error
        }
        try await parts.close()
        logger.info("stopped")
    }

    private static func serve(
        _ parts: DriveParts, _ logger: Logger, _ report: LaunchReport, _ log: DaemonLog
    ) async throws {
        let shutdown = CancelSignal()
        let home = parts.home.location.home
        let server = try ControlServer(
            home: home, methods: DaemonMethods(parts: parts, shutdown: shutdown, logger: logger).table(), logger: logger
        )
        let programsFirst = ProgramsFirst { [mount = parts.mount] in mount.isBusy }
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                // Stopped from the last to the first.
                services: [
                    .init(service: server),
                    .init(
                        service: MemoryService(
                            work: [parts.index.index.changes(), parts.mount.forgotten],
                            isBusy: { [mount = parts.mount] in mount.isBusy })),
                    .init(
                        service: SyncRunner(sync: parts.sync, logger: logger), successTerminationBehavior: .ignore),
                    .init(
                        service: RebuildService(
                            index: parts.index, queries: parts.queries, sync: parts.sync,
                            renewBindings: parts.renewBindings, logger: logger),
                        successTerminationBehavior: .ignore),
                    .init(
                        service: ThumbnailService(
                            keeper: parts.thumbnails, inbox: parts.inbox,
                            pollInterval: .seconds(parts.home.configuration.pollSeconds),
                            programsFirst: programsFirst),
                        successTerminationBehavior: .ignore),
                    .init(
                        service: ContentService(
                            reader: parts.content, index: parts.index.index, programsFirst: programsFirst),
                        successTerminationBehavior: .ignore),
                    .init(
                        service: MountService(mount: parts.mount, logger: logger),
                        successTerminationBehavior: .gracefullyShutdownGroup),
                    .init(
                        service: ShutdownService(signal: shutdown),
                        successTerminationBehavior: .gracefullyShutdownGroup),
                    .init(service: WatchdogService(manager: report.serviceManager)),
                ],
                gracefulShutdownSignals: [.sigint, .sigterm], logger: log.quiet))
        logger.info(
            "serving", metadata: ["mountpoint": "\(parts.mount.mountpoint)", "home": "\(home)", "pid": "\(getpid())"])
        report.ready("Your drive is at \(parts.mount.mountpoint)")
        try await group.run()
    }
}

/// Runs the sync engines until the daemon shuts down. What is being sent is noted, and what has come is not in its place yet.
struct SyncRunner: Service {
    let sync: SyncService
    let logger: Logger

    func run() async { await runUntilShutdown("the engines", logger) { [sync] in await sync.run() } }
}

/// Ends when a client asks the daemon to stop.
struct ShutdownService: Service {
    let signal: CancelSignal

    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await signal.wait() }
            // Cancelled when the group ends first.
            group.addTask { try? await gracefulShutdown() }
            await group.next()
            group.cancelAll()
        }
    }
}
