import Logging
import QuireCoordination
import QuireCore
import QuireTransport
import Synchronization

/// Claims and presenters on behalf of clients of the control socket: they last until they are given back, or until the
/// client goes.
final class CoordinationService: Sendable {
    private struct State {
        var next: UInt64 = 1
        var purposes: UInt64 = 0
        var clients: [ObjectIdentifier: Client] = [:]
        var claims: [ClaimID: ClientID] = [:]
        /// The purposes of presenters, for claims that name one.
        var presenters: [PresenterID: (client: ClientID, purpose: Purpose)] = [:]
    }

    private struct Client {
        let id: ClientID
        let calls: PresenterCalls
    }

    private let coordinator: Coordinator
    private let logger: Logger
    /// Whether the item at a path is a directory.
    private let isDirectory: @Sendable (RelativePath) -> Bool
    // Taken alone.
    private let state = Lock(State())

    init(
        coordinator: Coordinator, logger: Logger,
        isDirectory: @escaping @Sendable (RelativePath) -> Bool = { _ in false }
    ) {
        self.coordinator = coordinator
        self.logger = logger
        self.isDirectory = isDirectory
    }

    func addMethods(to methods: inout MethodTable) {
        methods.on(CoordinationMethods.Dump.self) { [self] _, _ in
            .init(
                claims: coordinator.snapshot().map(Self.shown), presenters: coordinator.presenters().map(Self.shown))
        }
        methods.onAtOnce(CoordinationMethods.Acquire.self) { [self] in try acquireAtOnce($0, for: $1) }
        methods.on(CoordinationMethods.Acquire.self, lane: .claims) { [self] parameters, context in
            try await acquire(parameters, for: context.client, prepares: false)
        }
        methods.on(CoordinationMethods.Prepare.self, lane: .claims) { [self] parameters, context in
            try await acquire(parameters, for: context.client, prepares: true)
        }
        methods.onAtOnce(CoordinationMethods.Release.self) { [self] parameters, client in
            let id = try claim(parameters.claim, of: client)
            state.withLock { $0.claims[id] = nil }
            coordinator.releaseInOrder(id)
            return WireNothing()
        }
        methods.onAtOnce(CoordinationMethods.DidMove.self) { [self] in try didMove($0, by: $1) }
        methods.onAtOnce(CoordinationMethods.DidChangeAttributes.self) { [self] parameters, client in
            let path = parameters.path.path
            _ = try writing(parameters.claim, of: client, [path])
            coordinator.noteUbiquityAttributes(path, Set(parameters.attributes))
            return WireNothing()
        }
        methods.on(PresenterMethods.Add.self, lane: .claims) { [self] parameters, context in
            try add(parameters, context.client)
        }
        methods.onAtOnce(PresenterMethods.Remove.self) { [self] parameters, session in
            let (id, client) = try presenter(parameters.presenter, of: session)
            state.withLock { $0.presenters[id] = nil }
            coordinator.unregister(id, of: client)
            return WireNothing()
        }
        methods.onAtOnce(PresenterMethods.SetPath.self) { [self] parameters, session in
            let (id, client) = try presenter(parameters.presenter, of: session)
            _ = coordinator.setPath(parameters.path?.path, of: id, by: client)
            return WireNothing()
        }
    }

    // MARK: Claims

    private struct Wanted {
        let accesses: [Access]
        let purpose: Purpose
        let options: AcquireOptions
    }

    private func wanted(
        _ parameters: CoordinationMethods.Acquire.Parameters, for session: ClientSession
    ) throws(QuireError) -> Wanted {
        let accesses = try Self.accesses(parameters)
        let client = client(session)
        let presenter = try parameters.presenter.map { number throws(QuireError) in
            try self.presenter(number, of: session).id
        }
        let known = presenter.flatMap { id in state.withLock { $0.presenters[id]?.purpose } }
        let purpose = parameters.purpose.map { Purpose($0) } ?? known ?? ownPurpose()
        guard purpose != .mount else { throw QuireError(.notAllowed, "\(purpose) is the purpose of programs") }
        var options = AcquireOptions(
            client: client.id, processID: session.pid > 0 ? session.pid : nil,
            deadline: parameters.timeoutSeconds.map { .milliseconds(Int64(min(max($0, 0), 1e9) * 1000)) })
        options.presenter = presenter
        return Wanted(accesses: accesses, purpose: purpose, options: options)
    }

    private func acquire(
        _ parameters: CoordinationMethods.Acquire.Parameters, for session: ClientSession, prepares: Bool
    ) async throws -> CoordinationMethods.Acquire.Result {
        let wanted = try wanted(parameters, for: session)
        var options = wanted.options
        options.isPreparation = prepares
        let claim: Claim
        do throws(CoordinationError) {
            claim = try await coordinator.acquire(wanted.accesses, purpose: wanted.purpose, options)
        } catch {
            if error.code == .cancelled { throw CancellationError() }
            throw Self.refusal(error, wanted.accesses)
        }
        // A caller that took its request back, or has gone, would never release it.
        guard !Task.isCancelled, !session.isClosed else {
            coordinator.release(claim)
            throw CancellationError()
        }
        return granted(claim, session)
    }

    /// Nil where somebody must be waited for or asked.
    private func acquireAtOnce(
        _ parameters: CoordinationMethods.Acquire.Parameters, for session: ClientSession
    ) throws(QuireError) -> CoordinationMethods.Acquire.Result? {
        let wanted = try wanted(parameters, for: session)
        do throws(CoordinationError) {
            return try coordinator.acquireAtOnce(wanted.accesses, purpose: wanted.purpose, wanted.options)
                .map { granted($0, session) }
        } catch {
            throw Self.refusal(error, wanted.accesses)
        }
    }

    private func granted(_ claim: Claim, _ session: ClientSession) -> CoordinationMethods.Acquire.Result {
        let client = client(session).id
        state.withLock { $0.claims[claim.id] = client }
        return .init(claim: claim.id.rawValue, paths: claim.accesses.map { WirePath($0.path) })
    }

    private func didMove(
        _ parameters: CoordinationMethods.DidMove.Parameters, by session: ClientSession
    ) throws(QuireError) -> CoordinationMethods.DidMove.Result {
        let (from, to) = (parameters.from.path, parameters.to.path)
        let report = try writing(parameters.claim, of: session, [from, to])
        return .init(paths: report.accesses.map { WirePath($0.path) })
    }

    /// A held claim that writes one of `paths`, or something above it.
    private func writing(
        _ number: UInt64, of session: ClientSession, _ paths: [RelativePath]
    ) throws(QuireError) -> ClaimReport {
        let id = try claim(number, of: session)
        guard let report = coordinator.snapshot().first(where: { $0.id == id && $0.isHeld }) else {
            throw QuireError(.notFound, "no claim \(id) is held")
        }
        let isCovered = report.accesses.contains { access in
            access.isWriting && paths.contains { $0.isInside(access.path) }
        }
        guard isCovered else {
            throw QuireError(
                .usage, "\(paths.first ?? .root): claim \(id) does not write it",
                remedy: "Say what happens to items inside a write of them")
        }
        return report
    }

    private func claim(_ number: UInt64, of session: ClientSession) throws(QuireError) -> ClaimID {
        let id = ClaimID(number)
        let client = client(session).id
        guard state.withLock({ $0.claims[id] }) == client else {
            throw QuireError(.notFound, "no claim \(id) is held")
        }
        return id
    }

    private func ownPurpose() -> Purpose {
        state.withLock { state in
            state.purposes += 1
            return Purpose("quire.client.\(state.purposes)")
        }
    }

    // MARK: Presenters

    private func add(
        _ parameters: PresenterMethods.Add.Parameters, _ session: ClientSession
    ) throws(QuireError) -> PresenterMethods.Add.Result {
        let client = client(session)
        let purpose = parameters.purpose.map { Purpose($0) } ?? ownPurpose()
        guard purpose != .mount, !purpose.rawValue.isEmpty else {
            throw QuireError(.usage, "\"\(purpose)\" cannot be a presenter's purpose")
        }
        var callbacks = PresenterCallbacks.all
        if let names = parameters.callbacks {
            callbacks = []
            for name in names {
                guard let known = PresenterCallbacks.names.first(where: { $0.name == name }) else {
                    throw QuireError(
                        .usage, "\"\(name)\" is not a callback",
                        remedy: "Use \(PresenterCallbacks.names.map(\.name).joined(separator: ", "))")
                }
                callbacks.insert(known.callback)
            }
        }
        var presenter = PresenterRegistration(
            id: PresenterID(0), client: client.id, processID: session.pid > 0 ? session.pid : nil,
            program: ProcessName.of(session.pid), path: parameters.path?.path, purpose: purpose, callbacks: callbacks,
            observedAttributes: Set(parameters.observedAttributes ?? []))
        presenter.isDirectory = parameters.path.map { isDirectory($0.path) } ?? false
        let id = coordinator.register(presenter, link: client.calls)
        state.withLock { $0.presenters[id] = (client.id, purpose) }
        if session.isClosed { forget(client.id) }
        return .init(presenter: id.rawValue, purpose: purpose.rawValue)
    }

    private func presenter(
        _ number: UInt64, of session: ClientSession
    ) throws(QuireError) -> (id: PresenterID, client: ClientID) {
        let id = PresenterID(number)
        let client = client(session).id
        guard state.withLock({ $0.presenters[id]?.client }) == client else {
            throw QuireError(.notFound, "this client has no presenter \(number)")
        }
        return (id, client)
    }

    // MARK: Clients

    private func client(_ session: ClientSession) -> Client {
        let key = ObjectIdentifier(session)
        let (client, isNew) = state.withLock { state -> (Client, Bool) in
            if let known = state.clients[key] { return (known, false) }
            let id = ClientID(state.next)
            state.next += 1
            let calls = PresenterCalls(client: id, session: session, coordinator: coordinator, logger: logger)
            state.clients[key] = Client(id: id, calls: calls)
            return (Client(id: id, calls: calls), true)
        }
        if isNew {
            _ = session.whenClosed { [self] in
                forget(client.id)
                state.withLock { $0.clients[key] = nil }
            }
        }
        return client
    }

    private func forget(_ client: ClientID) {
        state.withLock { state in
            state.claims = state.claims.filter { $0.value != client }
            state.presenters = state.presenters.filter { $0.value.client != client }
        }
        coordinator.remove(client: client)
    }

    // MARK: Words

    private static func accesses(
        _ parameters: CoordinationMethods.Acquire.Parameters
    ) throws(QuireError) -> [Access] {
        var accesses: [Access] = []
        if let path = parameters.path { accesses.append(try Access(words: parameters.access ?? "", path: path.path)) }
        for access in parameters.accesses ?? [] {
            accesses.append(try Access(words: access.access, path: access.path.path))
        }
        guard !accesses.isEmpty else {
            throw QuireError(.usage, "a claim needs an item", remedy: "Give path and access, or accesses")
        }
        return accesses
    }

    private static func shown(_ report: ClaimReport) -> CoordinationMethods.Claim {
        let state = report.isHeld ? "held" : report.waitsFor == nil ? "asking" : "waiting"
        return CoordinationMethods.Claim(
            id: report.id.rawValue, state: state, paths: report.accesses.map { WirePath($0.path) },
            accesses: report.accesses.map(\.words), purpose: report.purpose.rawValue,
            pid: report.processID, program: report.processID.flatMap { ProcessName.of($0) },
            ageSeconds: report.age / .seconds(1), waitsFor: report.waitsFor?.rawValue,
            asks: report.asks.map(\.rawValue))
    }

    private static func shown(_ report: PresenterReport) -> CoordinationMethods.Presenter {
        CoordinationMethods.Presenter(
            id: report.id.rawValue, path: report.path.map { WirePath($0) }, purpose: report.purpose.rawValue,
            pid: report.processID, program: report.program, ageSeconds: report.age / .seconds(1),
            question: report.question?.name, askedBy: report.askedBy?.rawValue,
            hung: report.isHung)
    }

    private static func refusal(_ error: CoordinationError, _ accesses: [Access]) -> QuireError {
        let items = accesses.map(\.path.description).joined(separator: ", ")
        return switch error.code {
        case .deadline: QuireError(.busy, "\(items): \(error)")
        case .cancelled: QuireError(.temporary, "\(items): \(error)")
        case .refused: QuireError(.notAllowed, "\(items): \(error)")
        case .deadlock: QuireError(.conflict, "\(items): \(error)")
        case .invalid: QuireError(.usage, "\(items): \(error)")
        }
    }
}
