import CLinux
import ServiceLifecycle

/// Gives back to the kernel what a burst of work left free: an idle daemon is as small as it was at its start.
struct MemoryService: Service {
    /// One element after each piece of work: commits, and forgetting much.
    let work: [AsyncStream<Void>]
    /// Whether programs keep the drive busy: then the memory is used again at once, and giving it back holds them up.
    let isBusy: @Sendable () -> Bool

    /// How long it leaves a burst alone: one commits many times a second.
    private static let rest = Duration.seconds(2)
    /// Whoever allocates meanwhile waits, for up to a second where millions of pieces are in use: it takes at most this part of
    /// the time.
    private static let part = 50

    func run() async {
        let (bursts, burst) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        await withTaskGroup(of: Void.self) { group in
            for work in work {
                group.addTask { for await _ in work { burst.yield() } }
            }
            group.addTask { await release(after: bursts) }
            // Cancelled when the daemon stops.
            group.addTask { try? await gracefulShutdown() }
            await group.next()
            group.cancelAll()
        }
    }

    private func release(after bursts: AsyncStream<Void>) async {
        var rest = Self.rest
        for await _ in bursts {
            repeat {
                guard (try? await Task.sleep(for: rest)) != nil else { return }
            } while isBusy()
            let taken = ContinuousClock().measure { quire_release_memory() }
            rest = max(Self.rest, taken * Self.part)
        }
    }
}
