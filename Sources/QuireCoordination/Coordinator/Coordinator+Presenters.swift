package import QuireCore
import Synchronization

extension Coordinator {
    /// Registers a presenter; its id in the registration is replaced by the one that is returned. What programs are in the
    /// middle of without asking is done when this returns.
    /// - Parameter link: how it is asked and told.
    package func register(_ presenter: PresenterRegistration, link: some PresenterLink) -> PresenterID {
        defer { finishOperations() }
        let now = clock.now()
        return state.withLock { state in
            let id = PresenterID(state.nextPresenter)
            state.nextPresenter += 1
            var presenter = presenter
            presenter.id = id
            presenter.now = now
            state.links[id] = link
            state.machine.add(presenter)
            endPasses()
            publish(state)
            return id
        }
    }

    /// Ends a registration. Unknown ids, and other clients', are left alone.
    package func unregister(_ id: PresenterID, of client: ClientID) {
        perform { $0.removePresenter(id, of: client) }
        state.withLock { if !$0.machine.isRegistered(id) { $0.links[id] = nil } }
    }

    /// See `CoordinationMachine.setPath`.
    package func setPath(_ path: RelativePath?, of id: PresenterID, by client: ClientID) -> Bool {
        state.withLock { state in
            endPasses()
            return state.machine.setPath(path, of: id, by: client)
        }
    }

    /// A presenter's answer. Unknown questions, and other clients', are left alone.
    package func answer(_ question: QuestionID, by client: ClientID, _ answer: PresenterAnswer) {
        state.withLock { $0.timers.removeValue(forKey: question) }?.cancel()
        perform { $0.answered(question, by: client, answer) }
    }

    /// All presenters, in the order of their registration.
    package func presenters() -> [PresenterReport] {
        let now = clock.now()
        return state.withLock { $0.machine.presenterReports(now: now) }
    }

    // MARK: What happened

    /// Whether anybody presents the item at `path`, one above it or one below.
    package func concernsPresenters(_ path: RelativePath) -> Bool {
        hasPresenters && state.withLock { $0.machine.concernsPresenters(path) }
    }

    /// A version of a document came, went or was resolved.
    package func noteVersion(_ event: VersionEvent, id: String, of path: RelativePath) {
        tell { $0.versionChanged(event, id: id, of: path) }
    }

    /// Ubiquity attributes of an item changed.
    package func noteUbiquityAttributes(_ path: RelativePath, _ attributes: Set<String>) {
        tell { $0.ubiquityAttributesChanged(path, attributes) }
    }

    private func tell(_ what: (inout CoordinationMachine) -> [CoordinationAction]) {
        if hasPresenters { perform(what) }
    }
}
