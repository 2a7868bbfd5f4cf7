import CFuse
import Glibc
import QuireCore
import Synchronization

/// One thread that reads requests and hands them to the driver.
///
/// After a request it looks for the next one without sleeping for a short while (`SpinWindow`). Idle, it sleeps in poll and
/// uses no CPU.
struct ReaderLoop: Sendable {
    let session: SessionPointer
    /// The thread's number among the readers.
    let number: Int
    let relay: ReaderRelay
    let load: RequestLoad
    let counters: RequestCounters
    /// Tells of every request, where that was asked for.
    let trace: RequestTrace?
    /// Whose requests count as nobody's.
    let voice: MountVoice?
    let isStopped: @Sendable () -> Bool

    /// Between two looks, about half a microsecond: each look takes the lock that programs need to hand in a request.
    private static let pausesBetweenLooks: Int32 = 16

    /// Runs until the file system is unmounted or the connection aborted.
    func run() {
        _ = CallerUmask.enter()
        let size = cfuse_session_buffer_size()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 4096)
        defer { buffer.deallocate() }
        let work = cfuse_current_work()
        var clock = MonotonicClock.now()
        var idleSince = clock
        var count = RequestLoad.Count()
        var window = SpinWindow()
        guard relay.waitForTurn(number) else { return }
        while !isStopped() {
            let received = cfuse_session_receive(session.raw, buffer.baseAddress, size)
            if received > 0 {
                // Read since the clock was last looked at, which was a moment ago.
                let (kind, isOwn) = begin(UnsafeRawBufferPointer(buffer).prefix(received), at: clock, work)
                relay.begin()
                cfuse_session_process(session.raw, buffer.baseAddress, received)
                let isReader = relay.end(number)
                let began = clock
                clock = MonotonicClock.now()
                if !work.pointee.postponed { counters.count(kind, nanoseconds: clock - began) }
                idleSince = clock
                if !isOwn { load.served(&count, at: clock) }
                if !isReader {
                    guard relay.waitForTurn(number) else { return }
                    clock = MonotonicClock.now()
                    idleSince = clock
                }
            } else if received == Int(-EAGAIN) {
                clock = MonotonicClock.now()
                if clock - idleSince > window.nanoseconds {
                    sleepUntilReadable()
                    clock = MonotonicClock.now()
                    window.slept(clock - idleSince)
                    idleSince = clock
                } else {
                    cfuse_relax(Self.pausesBetweenLooks)
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

    /// Notes what this thread is about to work on. Also tells whether it is a call of the driver's own.
    private func begin(
        _ request: Slice<UnsafeRawBufferPointer>, at time: Int, _ work: UnsafeMutablePointer<cfuse_work>
    ) -> (RequestKind, isOwn: Bool) {
        let request = UnsafeRawBufferPointer(rebasing: request)
        let header = RequestHeader(request)
        work.pointee.began = Int64(time)
        work.pointee.opcode = header.kind.opcode
        work.pointee.postponed = false
        let locked = LockedNodes(header, request)
        work.pointee.locked = (locked.first, locked.second)
        trace?.began(header, request)
        return (header.kind, voice?.isSpeaker(header.process) ?? false)
    }
}
