package import QuireCore

/// Who did something, and need not be told of it.
package enum Doer: Hashable, Sendable {
    /// A presenter, by its coordinator.
    case presenter(PresenterID)
    /// A process by plain access: all of its presenters.
    case process(Int32)

    static func of(_ presenter: PresenterID?) -> Doer? { presenter.map { .presenter($0) } }

    static func of(_ process: Int32?) -> Doer? { process.map { .process($0) } }
}

/// Telling presenters what happened.
extension CoordinationMachine {
    /// Content or attributes of an item changed.
    /// - Parameter except: whose own doing it was; not told.
    package func changed(_ path: RelativePath, except: Doer? = nil) -> [CoordinationAction] {
        var out: [CoordinationAction] = []
        tellChanged(path, except: except, &out)
        return out
    }

    /// There is an item where none was.
    package func appeared(_ path: RelativePath, except: Doer? = nil) -> [CoordinationAction] {
        var out: [CoordinationAction] = []
        tellItem(path, except: except, &out)
        tellContainers(of: path, except: except, .subitemDidAppear(path), &out)
        return out
    }

    /// An item is gone. Its presenters were asked to accommodate that; those of the directories above are told.
    package func disappeared(_ path: RelativePath, except: Doer? = nil) -> [CoordinationAction] {
        var out: [CoordinationAction] = []
        tellContainers(of: path, except: except, .subitemDidChange(path), &out)
        return out
    }

    /// An item was renamed: claims and presenters of it and of all below it follow. Presenters of what was at the
    /// destination stay, and are told that it changed.
    package mutating func moved(
        from: RelativePath, to: RelativePath, except: Doer? = nil
    ) -> [CoordinationAction] {
        moved([(from, to)], except: except)
    }

    /// A new file took the place of a document as its new content.
    package mutating func saved(
        _ path: RelativePath, from: RelativePath, except: Doer? = nil
    ) -> [CoordinationAction] {
        var out: [CoordinationAction] = []
        tellContainers(of: from, except: except, .subitemDidChange(from), &out)
        tellChanged(path, except: except, &out)
        return out
    }

    /// On whose account `process` changes one of `paths`: of the presenter whose coordinator has it write there, or else its
    /// own.
    package func doer(of paths: [RelativePath], process: Int32) -> Doer {
        for (id, negotiation) in negotiations where negotiation.isHeld && negotiation.processID == process {
            guard let presenter = negotiation.presenter else { continue }
            let isWriter = (table.accesses(of: id) ?? []).contains { access in
                access.isWriting && paths.contains { $0.isInside(access.path) }
            }
            if isWriter { return .presenter(presenter) }
        }
        return .process(process)
    }

    private func isDoer(_ id: PresenterID, _ doer: Doer?) -> Bool {
        switch doer {
        case .presenter(let presenter): presenter == id
        case .process(let process): book.entries[id]?.registration.processID == process
        case nil: false
        }
    }

    /// Two items swapped places; neither is inside the other.
    package mutating func exchanged(_ left: RelativePath, _ right: RelativePath) -> [CoordinationAction] {
        moved([(left, right), (right, left)], except: nil)
    }

    private mutating func moved(
        _ moves: [(from: RelativePath, to: RelativePath)], except: Doer?
    ) -> [CoordinationAction] {
        let moves = moves.filter { $0.from != $0.to }
        var out: [CoordinationAction] = []
        let moving = moves.flatMap { move in
            (book.at(move.from) + book.below(move.from)).compactMap { id -> (PresenterID, RelativePath)? in
                guard let rest = book.entries[id]?.registration.path?.removing(ancestor: move.from) else { return nil }
                return (id, move.to.appending(rest))
            }
        }
        let staying = moves.flatMap { move in book.at(move.to).filter { id in !moving.contains { $0.0 == id } } }
        for (id, path) in moving { book.place(id, at: path) }
        for (id, path) in moving where !isDoer(id, except) { tell(id, .didMove(to: path), &out) }
        for id in staying where !isDoer(id, except) { tell(id, .didChange, &out) }
        for move in moves {
            let above = book.above(move.from)
            let containers = above + book.above(move.to).filter { !above.contains($0) }
            tell(containers, except: except, .subitemDidMove(from: move.from, to: move.to), &out)
        }
        let claims = moves.map {
            ClaimTable.Move(from: $0.from, to: $0.to, destinationPackage: packages.root(of: $0.to))
        }
        for id in negotiations.keys { negotiations[id]?.follow(moves) }
        absorb(table.moved(claims), &out)
        return out
    }

    /// The set of versions of a document changed. Everybody is told, whoever did it.
    package func versionChanged(
        _ event: VersionEvent, id: String, of path: RelativePath
    ) -> [CoordinationAction] {
        var out: [CoordinationAction] = []
        for presenter in book.at(path) { tell(presenter, .version(event, id: id, path: nil), &out) }
        for presenter in book.above(path) { tell(presenter, .version(event, id: id, path: path), &out) }
        return out
    }

    /// Ubiquity attributes of an item changed: those who observe one of them are told which.
    package func ubiquityAttributesChanged(_ path: RelativePath, _ attributes: Set<String>) -> [CoordinationAction] {
        var out: [CoordinationAction] = []
        for presenter in book.at(path) {
            let observed = book.entries[presenter]?.registration.observedAttributes.intersection(attributes) ?? []
            if !observed.isEmpty { tell(presenter, .ubiquityAttributes(observed), &out) }
        }
        return out
    }

    /// What a coordinated write that ends is taken to have done.
    func tellWritten(_ accesses: [Access], except: Doer?, _ out: inout [CoordinationAction]) {
        for access in accesses {
            switch access.intent {
            case .reading, .writing(.moving): break
            case .writing(.deleting): out += disappeared(access.path, except: except)
            case .writing: tellChanged(access.path, except: except, &out)
            }
        }
    }

    /// Tells a presenter that implements it.
    func tell(_ presenter: PresenterID, _ message: PresenterMessage, _ out: inout [CoordinationAction]) {
        if book.entries[presenter]?.implements(message) == true { out.append(.tell(presenter, message)) }
    }

    private func tellChanged(_ path: RelativePath, except: Doer?, _ out: inout [CoordinationAction]) {
        tellItem(path, except: except, &out)
        tellContainers(of: path, except: except, .subitemDidChange(path), &out)
    }

    /// `didChange` to the presenters of an item; not of a plain directory.
    private func tellItem(_ path: RelativePath, except: Doer?, _ out: inout [CoordinationAction]) {
        for presenter in book.at(path) where !isDoer(presenter, except) {
            if book.entries[presenter]?.registration.isDirectory == true, !packages.contains(path) { continue }
            tell(presenter, .didChange, &out)
        }
    }

    private func tellContainers(
        of path: RelativePath, except: Doer?, _ message: PresenterMessage, _ out: inout [CoordinationAction]
    ) {
        tell(book.above(path), except: except, message, &out)
    }

    /// Tells presenters of directories. Those of packages that do not implement the callback are told that it changed.
    private func tell(
        _ presenters: [PresenterID], except: Doer?, _ message: PresenterMessage, _ out: inout [CoordinationAction]
    ) {
        for presenter in presenters where !isDoer(presenter, except) {
            guard let entry = book.entries[presenter], let path = entry.registration.path else { continue }
            if entry.implements(message) {
                tell(presenter, message, &out)
            } else if packages.contains(path) {
                tell(presenter, .didChange, &out)
            }
        }
    }
}

extension Negotiation {
    /// What a preparation is for, after items moved.
    fileprivate mutating func follow(_ moves: [(from: RelativePath, to: RelativePath)]) {
        preparation = preparation?.map { access in
            guard access.followsMoves, let move = moves.first(where: { access.path.isInside($0.from) }),
                let rest = access.path.removing(ancestor: move.from)
            else { return access }
            var access = access
            access.path = move.to.appending(rest)
            return access
        }
    }
}
