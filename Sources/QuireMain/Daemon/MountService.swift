import Logging
import QuireCore
import QuireFilesystem
import ServiceLifecycle

/// The mounted drive as a service: ends when the drive is unmounted by whomever, unmounts at a graceful shutdown.
struct MountService: Service {
    let mount: DriveMount
    let logger: Logger

    func run() async throws {
        let logger = logger
        let mount = mount
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await mount.waitUntilUnmounted() }
            group.addTask {
                try? await gracefulShutdown()
                await unmount()
            }
            await group.next()
            group.cancelAll()
        }
        logger.info("unmounted", metadata: ["mountpoint": "\(mount.mountpoint)"])
    }

    /// Programs that still use the drive keep what they have open; nothing new is reached by them.
    func unmount() async {
        do {
            try await mount.unmount(lazily: false)
        } catch {
            logger.warning("programs still use the drive; detached", metadata: ["reason": "\(error.message)"])
            do {
                try await mount.unmount(lazily: true)
            } catch {
                logger.error("cannot unmount", metadata: ["reason": "\(error)"])
            }
        }
    }
}
