import Glibc
import Logging
import Quire
import QuireCoordination
import QuireCore
import QuireFilesystem
import QuireStore
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
    static func run(_ plan: MountPlan, report: LaunchReport) async throws {
        ProcessLimits.raiseDescriptors()
        let logger = DaemonLog.logger(verbose: plan.verbose || plan.options.debug)
        let mountpoint = try plan.check()
        let home = try OpenHome(plan.location)
        if !home.unknownKeys.isEmpty {
            logger.warning("unknown keys in the configuration", metadata: ["keys": "\(home.unknownKeys)"])
        }
        let parts = try await DriveParts.open(home, plan: plan, mountpoint: mountpoint, logger: logger)
        try await serve(parts, home, logger, report)
        try await parts.close()
    }

    private static func serve(
        _ parts: DriveParts, _ home: OpenHome, _ logger: Logger, _ report: LaunchReport
    ) async throws {
        let shutdown = CancelSignal()
        let server = try ControlServer(
            home: home.location.home, methods: DaemonMethods(parts: parts, shutdown: shutdown).table(), logger: logger)
        let services: [ServiceGroupConfiguration.ServiceConfiguration] = [
            .init(service: server),
            .init(
                service: MountService(mount: parts.mount, logger: logger),
                successTerminationBehavior: .gracefullyShutdownGroup),
            .init(
                service: ShutdownService(signal: shutdown), successTerminationBehavior: .gracefullyShutdownGroup),
        ] + parts.services.map { .init(service: $0) }
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: services, gracefulShutdownSignals: [.sigint, .sigterm], logger: Logger(label: "quire.services") { label in
                    var handler = StreamLogHandler.standardError(label: label)
                    handler.logLevel = .warning
                    return handler
                }))
        logger.info(
            "serving",
            metadata: ["mountpoint": "\(parts.mount.mountpoint)", "home": "\(home.location.home)", "pid": "\(getpid())"])
        report.ready()
        try await group.run()
    }
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
