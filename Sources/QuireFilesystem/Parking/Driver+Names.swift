import Glibc
import QuireCoordination
import QuireCore

/// Telling presenters which names came, went and moved.
///
///     program      kernel                       driver                    presenter
///     rename ───▶ directory locked ───────────▶ renames, enters the move
///                                               asks for the directory's lock
///                                   ◀─────────── answers
///                 the name leads to the new file
///     returns ◀── directory unlocked
///                                               tells ──────────────────▶ reads the new file
///
/// It asks before it answers: what the program does next, and another thread serves, is told of after that. The claim of the
/// operation ends after that, too: whoever gets access next finds the names as they are.
extension Driver {
    /// Of a change of a name in `directory` that is about to be answered: has presenters told, and lets go of the claim, when
    /// programs meet it.
    func settle(_ untold: UntoldChange, _ claim: HeldClaim?, in directory: Node) {
        let isWaitedFor = claim?.isCovered == false && services.coordinator.hasExplicitClaims
        guard !untold.isEmpty || isWaitedFor else { return }
        notifier.whenNamesAreSettled(in: table.identifier(directory)) { [services] in
            services.coordinator.tell(untold)
            withExtendedLifetime(claim) {}
        }
    }

    /// There is an item where none was.
    func enterAppearance(
        _ name: FileName, in directory: Node, _ claim: HeldClaim?, _ thread: pid_t
    ) -> UntoldChange {
        enter(name, in: directory, claim, thread) { $0.appeared($1, except: $2) }
    }

    /// An item is gone. With a conflict copy its document loses a version, of which everybody is told.
    func enterDisappearance(
        _ name: FileName, in directory: Node, _ claim: HeldClaim?, _ thread: pid_t
    ) -> UntoldChange {
        enter(name, in: directory, claim, thread) { $0.disappeared($1, except: $2) }
            + enterVersion(.lost, name, in: directory)
    }

    private func enter(
        _ name: FileName, in directory: Node, _ claim: HeldClaim?, _ thread: pid_t,
        _ change: (inout CoordinationMachine, RelativePath, Doer) -> [CoordinationAction]
    ) -> UntoldChange {
        let coordinator = services.coordinator
        // What is done under an app's own claim is told when that ends.
        guard coordinator.hasPresenters, claim?.isCovered != true, !concernsNobody(claim),
            let path = table.path(of: name, in: directory),
            coordinator.concernsPresenters(path)
        else { return .nothing }
        let doer = Doer.process(ThreadOwner.process(of: thread))
        return coordinator.enter { change(&$0, path, doer) }
    }

    /// A rename was done: claims and presenters follow.
    func enterMove(
        _ source: Entry, _ target: Entry, exchanges: Bool, isSave: Bool, _ thread: pid_t
    ) -> UntoldChange {
        let coordinator = services.coordinator
        guard coordinator.isActive || coordinator.hasClaims,
            let old = table.path(of: source.name, in: source.directory),
            let new = table.path(of: target.name, in: target.directory)
        else { return .nothing }
        let process = ThreadOwner.process(of: thread)
        if isSave {
            // Of an exchange either name may be the document's.
            let isReversed = exchanges && Self.ephemeralNames.contains(target.name)
            return coordinator.enterSave(of: isReversed ? old : new, from: isReversed ? new : old, by: process)
        }
        if exchanges { return coordinator.enter { $0.exchanged(old, new) } }
        return coordinator.enterMove(from: old, to: new, by: process)
            + enterVersion(.lost, source.name, in: source.directory)
            + enterVersion(.gained, target.name, in: target.directory)
    }

    /// Of a conflict copy that came or went, what the presenters of its document are told.
    func enterVersion(_ event: VersionEvent, _ copy: FileName, in directory: Node) -> UntoldChange {
        guard services.coordinator.hasPresenters, let document = ConflictName(copy)?.original,
            let path = table.path(of: document, in: directory)
        else { return .nothing }
        return services.coordinator.enter { $0.versionChanged(event, id: copy.description, of: path) }
    }
}
