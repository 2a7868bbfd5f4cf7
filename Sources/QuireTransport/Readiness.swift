import CLinux
import Glibc
import QuireCore

/// What descriptors are waited for, and which are ready: epoll(7). Its events are poll(2)'s, by the same bits.
final class Readiness: Sendable {
    private let descriptor: Int32

    init() throws(QuireError) {
        descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard descriptor >= 0 else { throw QuireError(.failed, "no epoll: \(String(cString: strerror(errno)))") }
    }

    deinit { close(descriptor) }

    /// Tells of `events`, and of hang-ups and errors, whenever there are some.
    ///
    /// - Throws: where the kernel has no memory for one more, or the user's limit is reached.
    func add(_ file: Int32, number: UInt64, _ events: Int32) throws(QuireError) {
        guard control(EPOLL_CTL_ADD, file, number, events) == 0 else {
            throw QuireError(.failed, "cannot wait for a socket: \(String(cString: strerror(errno)))")
        }
    }

    /// Tells of other events from now on. Any thread.
    func change(_ file: Int32, number: UInt64, _ events: Int32) {
        // Fails for what was not added only.
        let code = control(EPOLL_CTL_MOD, file, number, events)
        assert(code == 0)
    }

    /// Forgets a descriptor; before it is closed, as a process that is being started may have it, too.
    func remove(_ file: Int32) {
        let code = control(EPOLL_CTL_DEL, file, 0, 0)
        assert(code == 0)
    }

    private func control(_ operation: Int32, _ file: Int32, _ number: UInt64, _ events: Int32) -> Int32 {
        var event = epoll_event(events: UInt32(bitPattern: events), data: epoll_data_t(u64: number))
        return epoll_ctl(descriptor, operation, file, &event)
    }

    /// Serves what is ready.
    ///
    /// - Parameters:
    ///   - sleeps: waits until something is.
    ///   - woken: called after that, before anything is served.
    /// - Returns: whether anything was.
    func serve(
        sleeping sleeps: Bool, woken: () -> Void, _ body: (_ number: UInt64, _ events: Int32) -> Void
    ) -> Bool {
        withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: 64) { ready in
            let count = Int(epoll_wait(descriptor, ready.baseAddress, Int32(ready.count), sleeps ? -1 : 0))
            guard count > 0 else { return false }
            if sleeps { woken() }
            for index in 0..<count { body(ready[index].data.u64, Int32(bitPattern: ready[index].events)) }
            return true
        }
    }
}
