import QuireCore

/// The ordered queue between those who record and the ingest thread. Unbounded: an event that was recorded is never
/// dropped.
///
/// A monitor, because the consumer is a thread that waits with a time limit.
final class IngestQueue: @unchecked Sendable {
    // Guarded by `monitor`: everything below it.
    private let monitor = ThreadMonitor()
    private var entries: [Entry] = []
    private var recorded: UInt64 = 0
    private var isUrgent = false
    private var isClosing = false
    private var isWaiting = false
    private var isEager = false
    /// See `setOperations`.
    private var finishOperations: (@Sendable () -> Void)?

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

        /// What the provider has, or is about to get, and this device must not forget: it would take its own upload for
        /// another's.
        var mustSurvive: Bool {
            switch work {
            case .event(.uploading), .event(.acknowledged), .event(.baseMoved), .event(.baseRemoved), .event(.removing):
                true
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

    /// Adds work. False when the queue is closed.
    @discardableResult
    func add(_ work: Entry.Work, time: FileTime) -> Bool {
        monitor.locked {
            guard !isClosing else { return false }
            entries.append(Entry(work: work, time: time))
            recorded += 1
            // The consumer looks at batches of its own accord; only one that sleeps is woken.
            if isWaiting { monitor.signal() }
            return true
        }
    }

    /// How much was recorded until now; the consumer hurries.
    func hurry() -> UInt64 {
        monitor.locked {
            isUrgent = true
            monitor.signal()
            return recorded
        }
    }

    /// Whether somebody watches: then little is gathered.
    func setEager(_ isEager: Bool) { monitor.locked { self.isEager = isEager } }

    /// How `recordedAfterOperations` waits for the operations in the store that are under way; nil where there are none.
    func setOperations(_ finish: (@Sendable () -> Void)?) { monitor.locked { finishOperations = finish } }

    /// How much is recorded once all is that was done in the store before the call.
    func recordedAfterOperations() -> UInt64 {
        let finish = monitor.locked { finishOperations }
        finish?()
        return recordedCount
    }

    func close() {
        monitor.locked {
            isClosing = true
            monitor.signal()
        }
    }

    var isClosed: Bool { monitor.locked { isClosing } }
    var recordedCount: UInt64 { monitor.locked { recorded } }

    /// The next batch: waits at most `idleMilliseconds` (nil: for ever) for something to come, then gathers for 5 ms, and
    /// as long as more comes for at most a second, unless somebody waits for it; while somebody watches, for a millisecond.
    func next(limit: Int, idleMilliseconds: Int?, gathers: Bool) -> Delivery {
        monitor.locked {
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
        if isEager { return pause(milliseconds: 1) }
        for _ in 0..<200 {
            let before = entries.count
            pause(milliseconds: 5)
            if isUrgent || isClosing || entries.count >= limit || entries.count == before { return }
        }
    }

    private func pause(milliseconds: Int) {
        _ = monitor.wait(until: ThreadMonitor.deadline(milliseconds: milliseconds))
    }

    private func wait(milliseconds: Int?, until isDone: () -> Bool) -> Bool {
        isWaiting = true
        defer { isWaiting = false }
        guard let milliseconds else {
            while !isDone(), !isClosing, !isUrgent { monitor.wait() }
            isUrgent = isUrgent && isDone()
            return isDone() || isClosing
        }
        guard milliseconds > 0 else { return false }
        let deadline = ThreadMonitor.deadline(milliseconds: milliseconds)
        while !isDone(), !isClosing, monitor.wait(until: deadline) {}
        return isDone() || isClosing
    }
}

/// Work for the ingest thread that is not an event.
enum IngestCommand: Sendable {
    case rescan
    case place(ContainerLayout)
    /// Somebody read or wrote what is damaged: look whether it is the file.
    case check
    /// Who tells what providers have knows of the rebuild with this number.
    case takeBases(rebuild: Int)
}

extension IngestQueue.Entry.Work {
    /// Without what it says of providers; nil where that is all. See `IngestThread.rebuild`.
    var withoutBases: IngestQueue.Entry.Work? {
        switch self {
        case .event(.uploading), .event(.acknowledged), .event(.baseMoved), .event(.baseRemoved), .event(.removing),
            .event(.counted):
            return nil
        case .event(.committed(var commit)):
            commit.base = nil
            return .event(.committed(commit))
        case .event, .arrived, .command: return self
        }
    }

    /// Whether it asks for a look at the file.
    var isCheck: Bool { if case .command(.check) = self { true } else { false } }
}
