package import QuireCore
import Synchronization

extension Coordinator {
    /// Registers a presenter; its id in the registration is replaced by the one that is returned.
    /// - Parameter link: how it is asked and told.
    package func register(_ presenter: PresenterRegistration, link: some PresenterLink) -> PresenterID {
        let now = clock.now()
        return state.withLock { state in
            let id = PresenterID(state.nextPresenter)
            state.nextPresenter += 1
            var presenter = presenter
            presenter.id = id
            presenter.now = now
            state.links[id] = link
            state.machine.add(presenter)
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
        state.withLock { $0.machine.setPath(path, of: id, by: client) }
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

    /// An item was renamed: claims and presenters follow, see `CoordinationMachine.moved`.
    package func noteMove(from: RelativePath, to: RelativePath, except: PresenterID? = nil) {
        perform { $0.isEmpty ? [] : $0.moved(from: from, to: to, except: .of(except)) }
    }

    /// A process renamed an item through the mount. Not told is the presenter whose coordinated write that is part of, or
    /// the process's presenters where it is part of none.
    package func noteMove(from: RelativePath, to: RelativePath, by process: Int32) {
        perform { $0.isEmpty ? [] : $0.moved(from: from, to: to, except: $0.doer(of: [from, to], process: process)) }
    }

    /// A process renamed a new file over a document: that is a write of the document. Claims of the new file follow it.
    package func noteSave(of path: RelativePath, from: RelativePath, by process: Int32) {
        perform { $0.isEmpty ? [] : $0.saved(path, from: from, except: $0.doer(of: [path], process: process)) }
    }

    /// Two items swapped places; neither is inside the other.
    package func noteExchange(_ left: RelativePath, _ right: RelativePath) {
        perform { $0.isEmpty ? [] : $0.exchanged(left, right) }
    }

    /// Whether anybody presents the item at `path`, one above it or one below.
    package func concernsPresenters(_ path: RelativePath) -> Bool {
        hasPresenters && state.withLock { $0.machine.concernsPresenters(path) }
    }

    /// Content or attributes of an item changed.
    /// - Parameter process: by the plain access of which process; its presenters are not told.
    package func noteChange(_ path: RelativePath, by process: Int32? = nil) {
        tell { $0.changed(path, except: .of(process)) }
    }

    /// There is an item where none was.
    package func noteAppearance(_ path: RelativePath, by process: Int32? = nil) {
        tell { $0.appeared(path, except: .of(process)) }
    }

    /// An item is gone.
    package func noteDisappearance(_ path: RelativePath, by process: Int32? = nil) {
        tell { $0.disappeared(path, except: .of(process)) }
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
