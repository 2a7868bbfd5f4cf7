import QuireCore
import QuireTransport
import Synchronization

/// A connection to a drive's daemon while it lasts.
struct DriveSession: Sendable {
    let connection: DriveConnection
    /// Where the drive is mounted.
    let mount: MountPath
}

/// The process's way to one drive: one connection at a time, made when it is needed, made again while there are presenters.
final class DriveLink: Sendable {
    private struct State {
        var session: DriveSession?
        var lastMount: MountPath?
        /// Counts connections that were tried: what an earlier one says is of no interest any more.
        var attempt: UInt64 = 0
        /// Whoever needs a connection while one is made waits for that.
        var connecting: Task<Result<DriveSession, QuireError>, Never>?
        var presenters: [ObjectIdentifier: PresenterEntry] = [:]
        /// Makes a new connection for the presenters' sake.
        var retrying: Task<Void, Never>?
    }

    let home: String
    /// What waits for access passes here.
    let gate = AccessGate()
    private let calls = PresenterCalls()
    // Taken alone.
    private let state = Lock(State())

    init(home: String) { self.home = home }

    /// Where the drive was mounted when it was last heard of.
    var lastMount: MountPath? { state.withLock { $0.lastMount } }

    /// The connection, made where there is none.
    ///
    /// - Throws: `.unavailable` when no daemon runs.
    func session() async throws(QuireError) -> DriveSession {
        let (known, task) = state.withLock { state -> (DriveSession?, Task<Result<DriveSession, QuireError>, Never>?) in
            if let session = state.session, !session.connection.isClosed { return (session, nil) }
            if let task = state.connecting { return (nil, task) }
            let task = Task(executorPreference: LibraryExecutor.shared) { await self.connect() }
            state.connecting = task
            return (nil, task)
        }
        if let known { return known }
        guard let task else { throw QuireError(.failed, "no connection to the drive in \(home)") }
        return try await task.value.get()
    }

    private func connect() async -> Result<DriveSession, QuireError> {
        let outcome: Result<DriveSession, QuireError>
        do throws(QuireError) {
            outcome = .success(try await makeSession())
        } catch {
            outcome = .failure(error)
        }
        state.withLock { state in
            state.connecting = nil
            if case .success(let session) = outcome {
                state.session = session
                state.lastMount = session.mount
            }
        }
        return outcome
    }

    private func makeSession() async throws(QuireError) -> DriveSession {
        let attempt = state.withLock { state in
            state.attempt += 1
            // Whoever is added from here on waits for this one.
            state.session = nil
            return state.attempt
        }
        forgetConnection()
        let connection = try DriveConnection(
            home: home, takeRequest: { [calls] request, peer in calls.take(request, peer) },
            whenClosed: { [weak self] in self?.closed(attempt) })
        let hello = try await connection.call(DriveMethods.Hello.self)
        guard hello.protocolVersion == 1 else {
            throw QuireError(
                .unavailable, "the daemon of \(home) speaks protocol \(hello.protocolVersion), this library 1",
                remedy: "Build the app with the Quire of this machine")
        }
        let session = DriveSession(connection: connection, mount: MountPath(hello.mountpoint))
        for entry in state.withLock({ Array($0.presenters.values) }) {
            try await calls.register(entry, at: entry.location(on: session.mount), session)
            entry.missedChanges()
        }
        return session
    }

    // MARK: Presenters

    /// Registers a presenter with the daemon, from now on after every restart of it, too.
    func add(_ entry: PresenterEntry, at path: RelativePath) async throws(QuireError) {
        while true {
            let session = try await session()
            let connection = entry.connection
            try await calls.register(entry, at: path, session)
            let isKnown = state.withLock { state in
                guard state.session?.connection === session.connection else { return false }
                state.presenters[ObjectIdentifier(entry)] = entry
                return true
            }
            if isKnown { break }
            // Gone in between, when nobody knew of it, and another may be there that does not either.
            entry.connectionEnded(connection)
        }
        if entry.isRemoved { remove(entry) }
    }

    /// Says that a presenter's item is another one now.
    func move(_ entry: PresenterEntry, to path: RelativePath?) async throws(QuireError) {
        let session = try await session()
        guard let number = entry.number else { return }
        let parameters = PresenterMethods.SetPath.Parameters(presenter: number, path: path.map { WirePath($0) })
        _ = try await session.connection.peer.finish(PresenterMethods.SetPath.self, parameters, handle: nil)
    }

    /// Ends a registration; returns at once.
    func remove(_ entry: PresenterEntry) {
        let session = state.withLock { state in
            state.presenters[ObjectIdentifier(entry)] = nil
            return state.session
        }
        if let session { calls.unregister(entry, session) }
    }

    // MARK: A daemon that went

    /// On the thread that reads.
    private func closed(_ attempt: UInt64) {
        let isCurrent = state.withLock { state in
            guard state.attempt == attempt else { return false }
            state.session = nil
            return true
        }
        guard isCurrent else { return }
        forgetConnection()
        if state.withLock({ !$0.presenters.isEmpty }) { reconnect() }
    }

    /// Lets presenters go on that gave way to what the daemon that is gone had granted.
    private func forgetConnection() {
        for entry in state.withLock({ Array($0.presenters.values) }) { entry.connectionEnded(entry.connection) }
        calls.forgetAll()
    }

    /// Tries to connect until it succeeds, more and more seldom, while there are presenters.
    private func reconnect() {
        state.withLock { state in
            guard state.retrying == nil else { return }
            state.retrying = Task(executorPreference: LibraryExecutor.shared) { await self.retry() }
        }
    }

    private func retry() async {
        var pause = ReconnectPause()
        while state.withLock({ !$0.presenters.isEmpty }) {
            // Nobody waits for the reason: whoever coordinates meanwhile is told it.
            if (try? await session()) != nil { break }
            await pause.wait()
        }
        let mustGoOn = state.withLock { state in
            state.retrying = nil
            return !state.presenters.isEmpty && state.session?.connection.isClosed != false
        }
        if mustGoOn { reconnect() }
    }
}
