import ServiceLifecycle

/// Tells the service manager that the daemon is alive, twice in each interval that it allows, and that it stops.
///
/// The time of a suspended machine does not count, here and there.
struct WatchdogService: Service {
    /// Nil: nobody is told.
    let manager: ServiceManager?

    func run() async {
        await withTaskGroup(of: Void.self) { group in
            if let manager, let interval = manager.watchdogMicroseconds {
                group.addTask {
                    repeat { manager.notify("WATCHDOG=1") } while await Self.rest(.microseconds(Int64(interval / 2)))
                }
            }
            // Cancelled when the daemon ends otherwise.
            group.addTask { try? await gracefulShutdown() }
            await group.next()
            group.cancelAll()
        }
        manager?.notify("STOPPING=1")
    }

    /// False when the task is cancelled meanwhile.
    private static func rest(_ duration: Duration) async -> Bool {
        (try? await Task.sleep(for: duration, clock: .suspending)) != nil
    }
}
