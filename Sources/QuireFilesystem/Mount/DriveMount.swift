import CFuse
import Glibc
package import Logging
import QuireCoordination
package import QuireCore
package import QuireStore
import Synchronization

/// A drive that is mounted: the driver, its session with the kernel, and the threads that read requests.
///
/// Also the daemon's `LocalTreeCommitter`: what the sync engine changes, it changes here, so that the kernel is told.
package final class DriveMount: Sendable {
    /// Where it is mounted, absolute.
    package let mountpoint: String
    let driver: Driver
    let session: SessionPointer
    let readers: Int
    private let stopped = Atomic<Bool>(false)
    private let relay = ReaderRelay()
    private let readersLeft: Lock<Int>
    private let ended: EndSignal
    private let isUnmounting = Atomic<Bool>(false)

    /// Mounts the store at an existing directory and starts to serve it.
    ///
    /// Returns when requests are being answered.
    /// - Parameters:
    ///   - mountpoint: absolute path of a directory.
    ///   - tree: the store.
    ///   - containerRoots: names in the root that programs cannot rename or remove.
    /// - Throws: `MountError` with the reason and the remedy.
    package static func mount(
        at mountpoint: String, tree: DriveTree, services: DriveServices, options: MountOptions = MountOptions(),
        containerRoots: Set<FileName> = [], logger: Logger
    ) throws(MountError) -> DriveMount {
        let root = Glibc.open(tree.rootPath, O_PATH | O_DIRECTORY | O_CLOEXEC)
        guard root >= 0 else { throw MountError(storeUnreadable: tree.rootPath, errno: errno) }
        let rootDescriptor = Descriptor(owning: root)
        var status = stat()
        guard fstat(root, &status) == 0 else { throw MountError(storeUnreadable: tree.rootPath, errno: errno) }
        let table = NodeTable(
            rootDescriptor: rootDescriptor, rootInode: status.inode,
            descriptorLimit: options.descriptorCache ?? min(descriptorLimit() / 4, 4096),
            descriptors: descriptorLimit())
        let driver = Driver(
            tree: tree, table: table, services: services, containerRoots: containerRoots, logger: logger,
            collectsWrites: options.collectsWrites, traces: options.traces,
            voice: options.voice.map { MountVoice($0, mountpoint: mountpoint, logger: logger) })
        let session = try FuseSession.open(driver: driver, mountpoint: mountpoint, options: options)
        let mount = DriveMount(mountpoint: mountpoint, driver: driver, session: session, readers: options.readers)
        services.coordinator.attach(mount: driver)
        mount.start(readers: options.readers)
        let refusal = cfuse_session_read_ahead(mountpoint)
        if refusal < 0 { logger.debug("the kernel reads ahead as by default", metadata: ["errno": "\(-refusal)"]) }
        return mount
    }

    private init(mountpoint: String, driver: Driver, session: SessionPointer, readers: Int) {
        self.mountpoint = mountpoint
        self.driver = driver
        self.session = session
        self.readers = readers
        self.readersLeft = Lock(readers)
        self.ended = EndSignal()
        driver.session.withLock { $0 = session }
        driver.notifier.start(session)
    }

    /// Whether reads and writes of ordinary files stay in the kernel. Known after the first request; may turn false at
    /// the first open where privileges are missing.
    package var isPassthrough: Bool { driver.passthroughAllowed.load(ordering: .relaxed) }

    /// Whether it is mounted, and not about to be unmounted.
    package var isServing: Bool { !isUnmounting.load(ordering: .relaxed) && !stopped.load(ordering: .relaxed) }

    /// Requests that wait for a download, a claim or a slow disk.
    package var parkedRequests: Int { driver.parking.count }

    /// An element each time that the kernel forgot a large part of the files it knew. For one reader.
    package var forgotten: AsyncStream<Void> { driver.table.forgotten }

    /// Replaces the names in the root that programs cannot rename or remove.
    package func setContainerRoots(_ names: Set<FileName>) { driver.containerRoots.withLock { $0 = names } }

    /// Waits until nobody serves the mount any more: it was unmounted by whomever, or its connection aborted.
    package func waitUntilUnmounted() async { await ended.wait() }

    /// Unmounts.
    ///
    /// - Parameter lazily: detach even while programs use it. What they wrote so far is in the store; they are served on
    ///   until this process ends, and what they still write with passthrough is in the store, too, and found at the next
    ///   start's rescan.
    /// - Throws: `MountError` `.busy` when programs use it (not when lazily).
    package func unmount(lazily: Bool) async throws(MountError) {
        isUnmounting.store(true, ordering: .relaxed)
        if lazily { await driver.notifier.writeBack(driver.table.writing) }
        // Its calls use the mount, too.
        await driver.voice?.suspend()
        do throws(MountError) {
            try await Unmounting.unmount(mountpoint, lazily: lazily)
        } catch {
            driver.voice?.resume()
            throw error
        }
        driver.parking.interruptAll()
        if lazily { ended.signal() } else { await ended.wait() }
    }

    private func start(readers: Int) {
        for number in 0..<readers {
            let loop = ReaderLoop(
                session: session, number: number, relay: relay, load: driver.load,
                counters: driver.statistics.makeCounters(), trace: driver.trace, voice: driver.voice
            ) { [self] in stopped.load(ordering: .relaxed) }
            let thread = OwnedThread(name: "quire-reader-\(number)") { [self] in
                loop.run()
                readerEnded()
            }
            precondition(thread != nil, "no thread can be started to read requests")
        }
    }

    /// The last reader to end frees the session.
    private func readerEnded() {
        stopped.store(true, ordering: .relaxed)
        relay.stop()
        let left = readersLeft.withLock { count in
            count -= 1
            return count
        }
        guard left == 0 else { return }
        driver.parking.interruptAll()
        driver.voice?.stop()
        driver.notifier.stop()
        driver.session.withLock { $0 = nil }
        // The session itself is freed with the process: parked requests may still answer into it.
        ended.signal()
    }

    /// How many descriptors this process may have.
    private static func descriptorLimit() -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
        return Int(clamping: limit.rlim_cur)
    }
}
