import CFuse
import Glibc
import QuireCore
import Synchronization

/// How many requests there were, of which kind, and how long they took from their reading to their answer.
///
/// Each reader thread counts into memory of its own. A request that is answered later, elsewhere, is set apart when it is
/// parked (`postpone`) and counted when it was answered (`finish`), among those that waited.
final class RequestStatistics: Sendable {
    // Both taken alone.
    private let threads = Lock<[RequestCounters]>([])
    private let waited = Lock(RequestCounters())
    private let interruptions = Atomic<Int>(0)

    /// Counters for one more reader thread.
    func makeCounters() -> RequestCounters {
        let counters = RequestCounters()
        threads.withLock { $0.append(counters) }
        return counters
    }

    /// Sets the request that this thread works on apart: it is answered later.
    static func postpone() -> PostponedRequest {
        let work = cfuse_current_work()
        work.pointee.postponed = true
        return PostponedRequest(
            kind: RequestKind(opcode: work.pointee.opcode), began: Int(work.pointee.began),
            locked: LockedNodes(first: work.pointee.locked.0, second: work.pointee.locked.1))
    }

    /// This thread goes on with a request that was set apart, and perhaps sets it apart again.
    static func resume(_ request: PostponedRequest) {
        let work = cfuse_current_work()
        work.pointee.postponed = false
        work.pointee.opcode = request.kind.opcode
        work.pointee.began = Int64(request.began)
        work.pointee.locked = (request.locked.first, request.locked.second)
    }

    /// This thread is done with a request it resumed: it was answered, unless it was set apart again.
    func finishResumed(_ request: PostponedRequest) {
        if !cfuse_current_work().pointee.postponed { finish(request) }
    }

    /// A request that was set apart was answered.
    func finish(_ request: PostponedRequest) {
        let nanoseconds = MonotonicClock.now() - request.began
        waited.withLock { $0.count(request.kind, nanoseconds: nanoseconds) }
    }

    /// A program got a signal while its request waited.
    func countInterruption() { interruptions.add(1, ordering: .relaxed) }

    var interrupted: Int { interruptions.load(ordering: .relaxed) }

    /// All kinds that came, with what was answered at once and what waited.
    func summary() -> [(kind: RequestKind, atOnce: LatencyCounts, waited: LatencyCounts)] {
        let threads = threads.withLock { $0 }
        return (0..<UInt32(RequestKind.limit)).compactMap { opcode in
            let kind = RequestKind(opcode: opcode)
            var (atOnce, later) = (LatencyCounts(), LatencyCounts())
            for thread in threads { thread.add(kind, to: &atOnce) }
            waited.withLock { $0.add(kind, to: &later) }
            return atOnce.count + later.count == 0 ? nil : (kind, atOnce, later)
        }
    }
}

/// A request that is answered later than its reader thread goes on.
struct PostponedRequest: Sendable {
    let kind: RequestKind
    /// When it was read, as `MonotonicClock` tells it.
    let began: Int
    /// What the kernel keeps locked meanwhile.
    var locked = LockedNodes()
}
