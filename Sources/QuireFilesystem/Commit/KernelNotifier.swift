import CFuse
import Dispatch
import Glibc
import QuireCore
import Synchronization

/// Tells the kernel what it must not remember any longer.
///
/// What concerns names and content is sent from queues of their own, with no lock, claim or gate held: the kernel takes the
/// directory's or the pages' locks for it, which a parked request may hold. Of a directory that one is known to hold the
/// name waits here: a thread that waits in the kernel cannot be killed, and the request is answered by nobody then. What
/// concerns attributes alone takes none of them, and is sent at once.
final class KernelNotifier: Sendable {
    private let session = Lock<SessionPointer?>(nil)
    private let parking: ParkingLot
    private let names = DispatchQueue(label: "quire.notify.names")
    private let contents = DispatchQueue(label: "quire.notify.contents")
    /// Where is waited for the kernel, and where what waited is done, in order.
    private let waits = DispatchQueue(label: "quire.notify.wait", attributes: .concurrent)
    private let settled = DispatchQueue(label: "quire.notify.settled")
    private let pending = Atomic<Int>(0)

    /// - Parameter parking: knows which directories requests keep locked.
    init(_ parking: ParkingLot) { self.parking = parking }

    /// Starts with a session; before, and after `stop`, notifications are dropped.
    func start(_ session: SessionPointer) { self.session.withLock { $0 = session } }

    /// Ends: the session is about to be freed. Returns when no notification is being sent.
    func stop() {
        session.withLock { $0 = nil }
        for queue in [names, contents] { queue.sync {} }
    }

    /// A name in a directory stands for another file, or none.
    func entryChanged(in directory: UInt64, _ name: FileName) {
        send(contents) { session in fuse_lowlevel_notify_inval_inode(session, directory, 0, 0) }
        parking.onceUnlocked(directory) { [self] in
            send(names) { session in
                _ = name.withCString { fuse_lowlevel_notify_inval_entry(session, directory, $0, name.bytes.count) }
            }
        }
    }

    /// Content and attributes of a file are others than before.
    func contentChanged(_ node: UInt64) {
        send(contents) { session in fuse_lowlevel_notify_inval_inode(session, node, 0, 0) }
    }

    /// Only the attributes are. The kernel has forgotten them when this returns; callable while a request is served.
    func attributesChanged(_ node: UInt64) {
        guard let pointer = session.withLock({ $0 }), let session = pointer.raw.pointee.session else { return }
        fuse_lowlevel_notify_inval_inode(session, node, -1, 0)
    }

    /// Makes the kernel write its dirty pages of a file back and drop its pages. Blocks until it has; not for threads that
    /// read requests, as it asks them to write.
    func writeBack(_ node: UInt64) {
        guard let pointer = session.withLock({ $0 }), let session = pointer.raw.pointee.session else { return }
        fuse_lowlevel_notify_inval_inode(session, node, 0, 0)
    }

    /// The same for several files, on a thread of its own kind: returns when all are written back.
    func writeBack(_ nodes: [UInt64]) async {
        await withCheckedContinuation { continuation in
            // Not on the pool's threads: it waits for WRITE requests.
            DispatchQueue.global().async { [self] in
                for node in nodes { writeBack(node) }
                continuation.resume()
            }
        }
    }

    /// Runs `body` when the kernel is done with the operations on names in a directory that are under way: it keeps the
    /// directory locked until they are answered and its names are as they were made. In the order of the calls.
    ///
    /// Not later than after `patience`: a request that came after those and waits for somebody keeps the directory, too, and
    /// that somebody may wait for `body`.
    func whenNamesAreSettled(in directory: UInt64, _ body: @escaping @Sendable () -> Void) {
        whenPassed(body) { [self] passed in
            parking.onceUnlocked(directory) { [self] in
                waits.async { [self] in
                    defer { passed.signal() }
                    guard let pointer = session.withLock({ $0 }), let session = pointer.raw.pointee.session else {
                        return
                    }
                    // No file has this name: nothing is forgotten. What counts is that the kernel takes the directory's lock.
                    _ = Self.noName.withCString {
                        fuse_lowlevel_notify_inval_entry(session, directory, $0, Self.noName.utf8.count)
                    }
                }
            }
        }
    }

    /// Runs `body` when everything said so far has reached the kernel; in order, and with the same patience.
    func whenDelivered(_ body: @escaping @Sendable () -> Void) {
        whenPassed(body) { [self] passed in afterAllSaid { passed.signal() } }
    }

    /// Runs `body`, on a thread that must not block, when everything said so far has reached the kernel, but for names in
    /// directories that are locked.
    private func afterAllSaid(_ body: @escaping @Sendable () -> Void) {
        contents.async { [self] in names.async(execute: body) }
    }

    /// Runs `body` after what was asked for by the two above: at once where that is done.
    func inOrder(_ body: @escaping @Sendable () -> Void) {
        guard pending.load(ordering: .acquiring) > 0 else { return body() }
        settled.async(execute: body)
    }

    /// - Parameter barrier: signals once what is waited for is done.
    private func whenPassed(
        _ body: @escaping @Sendable () -> Void, _ barrier: (DispatchSemaphore) -> Void
    ) {
        let passed = DispatchSemaphore(value: 0)
        // Of each by itself: several that wait for one directory do not add up.
        let deadline = DispatchTime.now() + Self.patience
        pending.add(1, ordering: .acquiringAndReleasing)
        barrier(passed)
        settled.async { [self] in
            _ = passed.wait(timeout: deadline)
            body()
            pending.subtract(1, ordering: .acquiringAndReleasing)
        }
    }

    private static let patience = DispatchTimeInterval.milliseconds(200)
    private static let noName = "\u{1}quire names are settled\u{1}"

    /// Waits until everything said so far has reached the kernel, but for names in directories that are locked.
    func delivered() async {
        await withCheckedContinuation { continuation in afterAllSaid { continuation.resume() } }
    }

    // A node or name that the kernel does not know (ENOENT) needs no invalidation: results are not looked at.
    private func send(_ queue: DispatchQueue, _ body: @escaping @Sendable (OpaquePointer) -> Void) {
        queue.async { [self] in
            guard let pointer = session.withLock({ $0 }), let session = pointer.raw.pointee.session else { return }
            body(session)
        }
    }
}
