import Glibc
import QuireCore

/// The ordered queue between those who record and the ingest thread. Unbounded: an event that was recorded is never
/// dropped.
///
/// A POSIX mutex and condition, because the consumer is a thread that waits with a time limit. Innermost lock: nothing
/// is called while it is held.
final class IngestQueue: @unchecked Sendable {
    // Guarded by `mutex`: everything below it.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var entries: [Entry] = []
    private var recorded: UInt64 = 0
    private var isUrgent = false
    private var isClosing = false
    private var isWaiting = false

    /// Something to be done on the ingest thread, in order.
    struct Entry: Sendable {
        enum Work: Sendable {
            case event(StoreEvent)
            /// A file was created, written and closed: what `EventFolding` makes of these.
            case arrived(parent: UInt64, name: FileName, FileStatus)
            case command(IngestCommand)
        }

        var work: Work
        var time: FileTime

        /// Something that the provider has and this device must not forget: it would take its own upload for another's.
        var isAcknowledgement: Bool {
            switch work {
            case .event(.acknowledged), .event(.baseMoved), .event(.baseRemoved): true
            case .event(.committed(let commit)): commit.base != nil
            case .event, .arrived, .command: false
            }
        }
    }

    /// What the consumer gets.
    enum Delivery {
        /// In order; the number says how many entries were recorded up to and with the last of these.
        case batch([Entry], upTo: UInt64)
        /// Nothing came in the time allowed.
        case idle
        /// Closed, and nothing is left.
        case closed
    }

    init() {
        mutex = .allocate(capacity: 1)
        condition = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Adds work. False when the queue is closed.
    @discardableResult
    func add(_ work: Entry.Work, time: FileTime) -> Bool {
        locked {
            guard !isClosing else { return false }
            entries.append(Entry(work: work, time: time))
            recorded += 1
            // The consumer looks at batches of its own accord; only one that sleeps is woken.
            if isWaiting { pthread_cond_signal(condition) }
            return true
        }
    }

    /// How much was recorded until now; the consumer hurries.
    func hurry() -> UInt64 {
        locked {
            isUrgent = true
            pthread_cond_signal(condition)
            return recorded
        }
    }

    func close() {
        locked {
            isClosing = true
            pthread_cond_signal(condition)
        }
    }

    var isClosed: Bool { locked { isClosing } }
    var recordedCount: UInt64 { locked { recorded } }

    /// The next batch: waits at most `idleMilliseconds` (nil: for ever) for something to come, then gathers for 5 ms, and
    /// as long as more comes for at most 100 ms, unless somebody waits for it.
    func next(limit: Int, idleMilliseconds: Int?, gathers: Bool) -> Delivery {
        locked {
            if entries.isEmpty, !isClosing, !wait(milliseconds: idleMilliseconds, until: { !entries.isEmpty }) {
                return .idle
            }
            if entries.isEmpty { return isClosing ? .closed : .idle }
            if gathers, !isUrgent, !isClosing, entries.count < limit { gather(limit) }
            let count = min(limit, entries.count)
            let batch = count == entries.count ? entries : Array(entries[..<count])
            if count == entries.count {
                entries = []
                isUrgent = false
            } else {
                entries.removeFirst(count)
            }
            return .batch(batch, upTo: recorded - UInt64(entries.count))
        }
    }

    /// Sleeps in short steps, so that no event pays for waking the consumer.
    ///
    /// A long batch costs less than several: what is written again is one change, and it leaves the processor to those who
    /// make the changes.
    private func gather(_ limit: Int) {
        for _ in 0..<20 {
            let before = entries.count
            pause(milliseconds: 5)
            if isUrgent || isClosing || entries.count >= limit || entries.count == before { return }
        }
    }

    private func pause(milliseconds: Int) {
        var deadline = Self.deadline(milliseconds)
        pthread_cond_timedwait(condition, mutex, &deadline)
    }

    private func wait(milliseconds: Int?, until isDone: () -> Bool) -> Bool {
        isWaiting = true
        defer { isWaiting = false }
        guard let milliseconds else {
            while !isDone(), !isClosing, !isUrgent { pthread_cond_wait(condition, mutex) }
            isUrgent = isUrgent && isDone()
            return isDone() || isClosing
        }
        guard milliseconds > 0 else { return false }
        var deadline = Self.deadline(milliseconds)
        while !isDone(), !isClosing {
            if pthread_cond_timedwait(condition, mutex, &deadline) == ETIMEDOUT { break }
        }
        return isDone() || isClosing
    }

    private static func deadline(_ milliseconds: Int) -> timespec {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let nanoseconds = time.tv_nsec + (milliseconds % 1000) * 1_000_000
        time.tv_sec += milliseconds / 1000 + nanoseconds / 1_000_000_000
        time.tv_nsec = nanoseconds % 1_000_000_000
        return time
    }

    private func locked<Value>(_ body: () -> Value) -> Value {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }
}

/// Work for the ingest thread that is not an event.
enum IngestCommand: Sendable {
    case rescan
    case place(ContainerLayout)
}
