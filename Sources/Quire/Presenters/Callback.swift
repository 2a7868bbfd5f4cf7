import Foundation
import QuireCore

/// A callback by its name on the socket (Documentation/Protocol.md, "presenter.call").
enum Callback: String, CaseIterable {
    case relinquishToReader, relinquishToWriter, reacquire, saveChanges, accommodateDeletion
    case accommodateSubitemDeletion, didMove, didChange, subitemDidAppear, subitemDidChange, subitemDidMove
    case ubiquityAttributes, versions, subitemVersions

    /// Those that a presenter registers for; `reacquire` belongs to relinquishing.
    static var registered: [String] { allCases.filter { $0 != .reacquire }.map(\.rawValue) }

    /// Puts the callback into the presenter's queue.
    ///
    /// - Parameter connection: of the presenter, by which it is called.
    func perform(
        _ call: PresenterMethods.Call.Parameters, on entry: PresenterEntry, of connection: UInt64, _ mount: MountPath,
        _ answer: PresenterAnswer
    ) {
        let url = call.path.map { mount.url($0.path) }
        switch (self, url) {
        case (.relinquishToReader, _):
            ask(entry) { $0.relinquishPresentedItem(toReader: Self.reacquiring(call, entry, connection, answer)) }
        case (.relinquishToWriter, _):
            ask(entry) { $0.relinquishPresentedItem(toWriter: Self.reacquiring(call, entry, connection, answer)) }
        case (.saveChanges, _): ask(entry) { $0.savePresentedItemChanges { answer.give($0) } }
        case (.accommodateDeletion, _): ask(entry) { $0.accommodatePresentedItemDeletion { answer.give($0) } }
        case (.accommodateSubitemDeletion, let url?):
            ask(entry) { $0.accommodatePresentedSubitemDeletion(at: url) { answer.give($0) } }
        default:
            tell(call, url, entry, mount)
            answer.give(.init())
        }
    }

    /// What is only told.
    private func tell(
        _ call: PresenterMethods.Call.Parameters, _ url: URL?, _ entry: PresenterEntry, _ mount: MountPath
    ) {
        switch (self, url) {
        case (.reacquire, _): if let question = call.question { entry.reacquire(question) }
        case (.didChange, _): entry.enqueue { $0.presentedItemDidChange() }
        case (.didMove, let url?): entry.moved(to: url)
        case (.subitemDidAppear, let url?): entry.enqueue { $0.presentedSubitemDidAppear(at: url) }
        case (.subitemDidChange, let url?): entry.enqueue { $0.presentedSubitemDidChange(at: url) }
        case (.subitemDidMove, let url?):
            guard let old = call.from.map({ mount.url($0.path) }) else { return }
            entry.enqueue { $0.presentedSubitem(at: old, didMoveTo: url) }
        case (.ubiquityAttributes, _):
            let keys = UbiquityAttributes.keys(of: call.attributes ?? [])
            entry.enqueue { $0.presentedItemDidChangeUbiquityAttributes(keys) }
        case (.versions, _):
            // Where the daemon knows nothing of a move yet, the presenter knows best where its document is.
            guard let url = entry.presenter.presentedItemURL else { return }
            tellVersion(call, url, entry) { presenter, event, version in
                switch event {
                case "gained": presenter.presentedItemDidGain(version)
                case "lost": presenter.presentedItemDidLose(version)
                case "resolved": presenter.presentedItemDidResolveConflict(version)
                default: break
                }
            }
        case (.subitemVersions, let url?):
            tellVersion(call, url, entry) { presenter, event, version in
                switch event {
                case "gained": presenter.presentedSubitem(at: url, didGain: version)
                case "lost": presenter.presentedSubitem(at: url, didLose: version)
                case "resolved": presenter.presentedSubitem(at: url, didResolve: version)
                default: break
                }
            }
        default: break
        }
    }

    private func tellVersion(
        _ call: PresenterMethods.Call.Parameters, _ document: URL, _ entry: PresenterEntry,
        _ body: @escaping @Sendable (any FilePresenter, String, FileVersion) -> Void
    ) {
        guard let name = call.version, let event = call.event else { return }
        entry.enqueue { presenter in
            body(presenter, event, FileVersion(told: name, of: document, isOver: event != "gained"))
        }
    }

    private func ask(_ entry: PresenterEntry, _ body: @escaping @Sendable (any FilePresenter) -> Void) {
        entry.enqueue { presenter in
            AccessScope.$answering.withValue(entry.purpose) { body(presenter) }
        }
    }

    /// What a presenter is handed to say that it has let go.
    private static func reacquiring(
        _ call: PresenterMethods.Call.Parameters, _ entry: PresenterEntry, _ connection: UInt64,
        _ answer: PresenterAnswer
    ) -> @Sendable ((@Sendable () -> Void)?) -> Void {
        { reacquirer in
            // Kept before the answer: the access may be over right after it.
            if let reacquirer, let question = call.question { entry.keep(reacquirer, for: question, of: connection) }
            answer.give(.init(reacquires: reacquirer != nil))
        }
    }
}
