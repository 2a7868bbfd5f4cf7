package import QuireCore

/// What a presenter is asked before an access of another is granted. Each is answered once; the claim waits.
package enum PresenterQuestion: Hashable, Sendable {
    /// Stop using the item while others read it.
    case relinquishToReader
    /// Stop using the item while somebody writes it.
    case relinquishToWriter
    case saveChanges
    /// The item, or what the presenter has of it, is about to be deleted or replaced.
    case accommodateDeletion
    /// The same for something inside the package.
    case accommodateSubitemDeletion(RelativePath)

    /// What a presenter must implement to be asked.
    var callback: PresenterCallbacks {
        switch self {
        case .relinquishToReader: .relinquishToReader
        case .relinquishToWriter: .relinquishToWriter
        case .saveChanges: .saveChanges
        case .accommodateDeletion: .accommodateDeletion
        case .accommodateSubitemDeletion: .accommodateSubitemDeletion
        }
    }

    /// Its name on the wire.
    package var name: String { callback.name ?? "question" }

    var isRelinquish: Bool { self == .relinquishToReader || self == .relinquishToWriter }
}

/// How a question was answered.
package enum PresenterAnswer: Hashable, Sendable {
    /// Done. `reacquires`: the presenter wants to be told when the access ends (asked to relinquish only).
    case done(reacquires: Bool)
    /// It could not; the access that asked fails with this reason.
    case failed(String)
}

/// What a presenter is told; nobody waits for an answer.
package enum PresenterMessage: Hashable, Sendable {
    /// The access that the presenter gave way to, in answer to this question, is over.
    case reacquire(QuestionID)
    case didMove(to: RelativePath)
    case didChange
    case subitemDidAppear(RelativePath)
    case subitemDidMove(from: RelativePath, to: RelativePath)
    case subitemDidChange(RelativePath)
    /// A version of the item, or of one below it when `path` is not nil.
    case version(VersionEvent, id: String, path: RelativePath?)
    case ubiquityAttributes(Set<String>)

    /// What a presenter must implement to be told; nil: everybody is.
    var callback: PresenterCallbacks? {
        switch self {
        case .reacquire: nil
        case .didMove: .didMove
        case .didChange: .didChange
        case .subitemDidAppear: .subitemDidAppear
        case .subitemDidMove: .subitemDidMove
        case .subitemDidChange: .subitemDidChange
        case .version(_, _, let path): path == nil ? .versions : .subitemVersions
        case .ubiquityAttributes: .ubiquityAttributes
        }
    }

    /// Its name on the wire.
    package var name: String { callback.flatMap(\.name) ?? "reacquire" }
}

/// What happened to a version of a document.
package enum VersionEvent: String, Hashable, Sendable, CaseIterable {
    case gained, lost, resolved
}
