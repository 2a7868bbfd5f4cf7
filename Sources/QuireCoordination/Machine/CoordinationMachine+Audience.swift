import QuireCore

/// Whom an access concerns (NSFileCoordinator: "File Coordinators and File Presenters").
extension CoordinationMachine {
    /// Who is to be asked what, in this order: one presenter after the other, first to relinquish.
    ///
    ///                              the item's, and its packages'     a package's above    below a directory
    ///     read                     relinquishToReader, save
    ///     write                    relinquishToWriter
    ///     write for merging        relinquishToWriter, save
    ///     write for moving         relinquishToWriter                                     relinquishToWriter
    ///     write for deleting,      relinquishToWriter;               relinquishToWriter,  relinquishToWriter,
    ///        replacing             item's: accommodateDeletion       accommodateSubitem   accommodateDeletion
    ///
    /// - Parameter below: whether everybody below is asked as well, as in a preparation.
    func wanted(for accesses: [Access], including below: Bool) -> [(PresenterID, PresenterQuestion)] {
        var found: [(PresenterID, PresenterQuestion)] = []
        for access in accesses {
            let own = book.at(access.path)
            let packages = packages.all(on: access.path).filter { $0 != access.path }.map { ($0, book.at($0)) }
            let contained = access.intent.reachesBelow || below ? book.below(access.path) : []
            for presenter in packages.flatMap(\.1) + own + contained { found.append((presenter, access.relinquish)) }
            switch access.intent {
            case .reading(let options) where !options.contains(.withoutChanges):
                found += (packages.flatMap(\.1) + own + contained).map { ($0, .saveChanges) }
            case .writing(.merging):
                found += (packages.flatMap(\.1) + own + contained).map { ($0, .saveChanges) }
            case .writing(.deleting), .writing(.replacing):
                found += packages.flatMap(\.1).map { ($0, .accommodateSubitemDeletion(access.path)) }
                found += (own + contained).map { ($0, .accommodateDeletion) }
            case .reading, .writing: break
            }
        }
        return inOrder(found)
    }

    /// Without what a presenter does not implement, each question once, and of both ways to relinquish only the stronger.
    private func inOrder(_ found: [(PresenterID, PresenterQuestion)]) -> [(PresenterID, PresenterQuestion)] {
        guard !found.isEmpty else { return [] }
        let toWriter = Set(found.filter { $0.1 == .relinquishToWriter }.map(\.0))
        var seen: [PresenterID: Set<PresenterQuestion>] = [:]
        let relinquish = found.filter(\.1.isRelinquish)
        return (relinquish + found.filter { !$0.1.isRelinquish }).filter { presenter, question in
            guard let entry = book.entries[presenter], entry.implements(question.callback) else { return false }
            if question == .relinquishToReader, toWriter.contains(presenter) { return false }
            return seen[presenter, default: []].insert(question).inserted
        }
    }
}

extension Access {
    fileprivate var relinquish: PresenterQuestion {
        if case .reading = intent { .relinquishToReader } else { .relinquishToWriter }
    }
}

extension Access.Intent {
    /// Whether presenters of items below a directory are concerned.
    fileprivate var reachesBelow: Bool {
        if case .writing(let option) = self { option.coversTree } else { false }
    }
}
