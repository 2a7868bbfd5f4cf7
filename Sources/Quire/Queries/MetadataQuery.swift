public import Foundation
import QuireCore
import QuireTransport
import Synchronization

/// A query of a drive's index that keeps running: it gathers what there is, and then tells what comes, changes and goes,
/// whoever does it. The counterpart of `NSMetadataQuery`.
///
/// ```swift
/// let query = MetadataQuery()
/// query.predicate = .name == "test.txt"
/// query.start()
/// for await phase in query.phases {
///     if case .finishedGathering = phase { break }
/// }
/// ```
/// A document that was saved, by whatever program, before `start` was called is among the results. Where the daemon is started
/// anew the query goes on by itself, and tells what became different meanwhile. All members may be used from any thread.
public final class MetadataQuery: Sendable {
    /// What a query tells, in this order.
    public enum Phase: Sendable {
        case started
        /// So many results are there.
        case progress(Int)
        case finishedGathering
        case updated(Changes)
        /// It cannot go on: the expression cannot be read, or there is no drive.
        case failed(QuireError)
    }

    /// What has changed among the results.
    public struct Changes: Sendable {
        /// What came.
        public var added: [MetadataItem] = []
        /// What has other attributes, or lies elsewhere.
        public var changed: [MetadataItem] = []
        /// What went, or is not what is looked for any more.
        public var removed: [MetadataItem] = []

        var isEmpty: Bool { added.isEmpty && changed.isEmpty && removed.isEmpty }
    }

    /// Where a query looks.
    public enum Scope: Sendable, Hashable {
        /// The documents of the drive, of all containers.
        case ubiquitousDocuments
        /// What containers keep beside their documents: nothing, on a drive.
        case ubiquitousData
        /// Documents of others that were granted: none yet.
        case accessibleUbiquitousExternalDocuments
        /// What lies below a directory of the mount.
        case directory(URL)
    }

    /// By what results are ordered.
    public struct SortDescriptor: Sendable, Hashable {
        /// Apple's name.
        public var attribute: String
        /// The least first.
        public var isAscending: Bool

        /// - Parameter attribute: Apple's name, as `MetadataItem.attributes` lists them.
        public init(_ attribute: String, isAscending: Bool = true) {
            self.attribute = attribute
            self.isAscending = isAscending
        }
    }

    private struct State {
        var predicate: MetadataPredicate?
        var scopes: [Scope] = [.ubiquitousDocuments]
        var batching = Duration.seconds(1)
        var table = ResultTable()
        var task: Task<Void, Never>?
        /// How often it was started or ended: what a former run still brings is dropped.
        var run = 0
        var isGathering = false
        var pauses = 0
        /// What came while updates are disabled.
        var waiting: [QueryFeed.Event] = []

        /// Ends the run; false where there is none.
        mutating func end() -> Bool {
            guard let task else { return false }
            task.cancel()
            self.task = nil
            run += 1
            isGathering = false
            waiting = []
            return true
        }
    }

    /// What the query tells. One loop reads it; what is told while nobody reads waits.
    public let phases: AsyncStream<Phase>
    private let tell: AsyncStream<Phase>.Continuation
    private let drive: Drive?
    // Nothing else is taken while it is held; what is told under it waits in the stream.
    private let state = Lock(State())

    /// A query that was not started yet.
    ///
    /// - Parameter drive: nil: the drive that `Drive.running()` finds.
    public init(drive: Drive? = nil) {
        self.drive = drive
        (phases, tell) = AsyncStream.makeStream()
    }

    deinit {
        state.withLock { $0.task }?.cancel()
        tell.finish()
    }

    // MARK: What is looked for

    /// What is looked for; to be set before `start`. Setting it while the query runs starts it anew.
    public var predicate: MetadataPredicate? {
        get { state.withLock { $0.predicate } }
        set {
            state.withLock { $0.predicate = newValue }
            restart()
        }
    }

    /// Where it is looked for. Setting it while the query runs starts it anew.
    public var searchScopes: [Scope] {
        get { state.withLock { $0.scopes } }
        set {
            state.withLock { $0.scopes = newValue }
            restart()
        }
    }

    /// By what results are ordered; first by path.
    public var sortDescriptors: [SortDescriptor] {
        get { state.withLock { $0.table.order } }
        set { state.withLock { $0.table.order = newValue } }
    }

    /// For how long changes are gathered before they are told: a second; `.zero` for not at all. Counts from the next start.
    public var notificationBatchingInterval: Duration {
        get { state.withLock { $0.batching } }
        set { state.withLock { $0.batching = newValue } }
    }

    // MARK: Running

    /// Starts it.
    ///
    /// - Returns: false when it runs already, or there is no predicate.
    @discardableResult
    public func start() -> Bool {
        state.withLock { state in
            guard state.task == nil, let predicate = state.predicate else { return false }
            state.isGathering = true
            state.run += 1
            let run = state.run
            let feed = QueryFeed(
                drive: drive, predicate: predicate, scopes: state.scopes, batching: state.batching)
            tell.yield(.started)
            state.task = Task(executorPreference: LibraryExecutor.shared) { [weak self] in
                for await event in feed.events() {
                    guard let self else { return }
                    self.take(event, of: run)
                }
            }
            return true
        }
    }

    /// Ends it; the results stay as they are.
    public func stop() { state.withLock { _ = $0.end() } }

    private func restart() {
        let isRunning = state.withLock { state in
            guard state.end() else { return false }
            state.table.removeAll()
            return true
        }
        if isRunning { start() }
    }

    /// Whether it was started and not stopped.
    public var isStarted: Bool { state.withLock { $0.task != nil } }
    /// Whether what there is has not all come yet.
    public var isGathering: Bool { state.withLock { $0.isGathering } }
    /// Whether it does not run.
    public var isStopped: Bool { !isStarted }

    /// Keeps the results as they are until `enableUpdates` was called as often.
    public func disableUpdates() { state.withLock { $0.pauses += 1 } }

    /// Takes one `disableUpdates` back; after the last, what changed meanwhile is told.
    public func enableUpdates() {
        state.withLock { state in
            state.pauses = max(0, state.pauses - 1)
            guard state.pauses == 0 else { return }
            let waiting = state.waiting
            state.waiting = []
            for event in waiting { apply(event, &state) }
        }
    }

    /// - Parameter run: that the event is of.
    func take(_ event: QueryFeed.Event, of run: Int) {
        state.withLock { state in
            guard run == state.run else { return }
            if state.pauses == 0 { apply(event, &state) } else { state.waiting.append(event) }
        }
    }

    /// Told under the lock: in the order in which the results changed.
    private func apply(_ event: QueryFeed.Event, _ state: inout State) {
        switch event {
        case .failed(let error):
            _ = state.end()
            tell.yield(.failed(error))
        case .connected(let mount): state.table.begin(on: mount)
        case .update(let update):
            let changes = state.table.apply(update)
            guard update.gathered != nil else {
                if state.isGathering {
                    tell.yield(.progress(state.table.count))
                } else if !changes.isEmpty {
                    tell.yield(.updated(changes))
                }
                return
            }
            let missed = state.table.endGathering()
            if state.isGathering {
                state.isGathering = false
                tell.yield(.finishedGathering)
            } else if !missed.isEmpty {
                tell.yield(.updated(missed))
            }
        }
    }

    // MARK: Results

    /// The results there are now, in order.
    public var results: [MetadataItem] { state.withLock { $0.table.sorted } }
    /// How many there are.
    public var resultCount: Int { state.withLock { $0.table.count } }

    /// The result at a place in the order; nil where there is none.
    public func result(at index: Int) -> MetadataItem? {
        let results = results
        return results.indices.contains(index) ? results[index] : nil
    }

    /// The place of a result in the order.
    public func index(ofResult item: MetadataItem) -> Int? { results.firstIndex(of: item) }

    /// How often each value of an attribute occurs among the results, ordered by value.
    public func valueList(forAttribute name: String) -> [(value: MetadataValue, count: Int)] {
        var counts: [MetadataValue: Int] = [:]
        for item in results {
            switch item.value(forAttribute: name) {
            case .texts(let texts)?: for text in texts { counts[.text(text), default: 0] += 1 }
            case let value?: counts[value, default: 0] += 1
            case nil: break
            }
        }
        return counts.map { (value: $0.key, count: $0.value) }.sorted { $0.value.precedes($1.value) ?? false }
    }

    /// The results by their value of an attribute, the groups ordered by value; those without one are in none.
    public func groupedResults(byAttribute name: String) -> [(value: MetadataValue, results: [MetadataItem])] {
        let groups = Dictionary(grouping: results) { $0.value(forAttribute: name) }
        return groups.compactMap { value, items in value.map { (value: $0, results: items) } }
            .sorted { $0.value.precedes($1.value) ?? false }
    }
}
