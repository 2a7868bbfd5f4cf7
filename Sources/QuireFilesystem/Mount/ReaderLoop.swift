import CFuse
import Glibc
import Synchronization

/// One thread that reads requests and hands them to the driver.
///
/// After a request it looks for the next one without sleeping for a short while: waking a sleeping core costs more than
/// most requests. Idle, it sleeps in poll and uses no CPU.
struct ReaderLoop: Sendable {
    let session: SessionPointer
    let isStopped: @Sendable () -> Bool

    /// How long it looks before it sleeps.
    private static let spinNanoseconds = 20_000

    /// Runs until the file system is unmounted or the connection aborted.
    func run() {
        _ = CallerUmask.enter()
        let size = cfuse_session_buffer_size()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 4096)
        defer { buffer.deallocate() }
        var idleSince = Self.now()
        while !isStopped() {
            let received = cfuse_session_receive(session.raw, buffer.baseAddress, size)
            if received > 0 {
                cfuse_session_process(session.raw, buffer.baseAddress, received)
                idleSince = Self.now()
            } else if received == Int(-EAGAIN) {
                if Self.now() - idleSince > Self.spinNanoseconds {
                    sleepUntilReadable()
                    idleSince = Self.now()
                }
            } else if received != Int(-EINTR), received != Int(-ENOENT) {
                // ENODEV: unmounted. Anything else: the connection is of no more use.
                return
            }
        }
    }

    private func sleepUntilReadable() {
        var descriptor = pollfd(fd: cfuse_session_descriptor(session.raw), events: Int16(POLLIN), revents: 0)
        // An unmount or an abort of the connection wakes it, too.
        poll(&descriptor, 1, -1)
    }

    private static func now() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}
