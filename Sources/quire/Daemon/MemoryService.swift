import CLinux
import ServiceLifecycle

/// Gives back to the kernel what a burst of work left free: an idle daemon is as small as it was at its start.
struct MemoryService: Service {
    /// One element after each piece of work.
    let work: AsyncStream<Void>
    /// Whether programs keep the drive busy: then the memory is used again at once, and giving it back holds them up.
    let isBusy: @Sendable () -> Bool

    /// How long it leaves a burst alone: one commits many times a second.
    private static let rest = Duration.seconds(2)

    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in work {
                    repeat {
                        guard (try? await Task.sleep(for: Self.rest)) != nil else { return }
                    } while isBusy()
                    quire_release_memory()
                }
            }
            // Cancelled when the daemon stops.
            group.addTask { try? await gracefulShutdown() }
            await group.next()
            group.cancelAll()
        }
    }
}
