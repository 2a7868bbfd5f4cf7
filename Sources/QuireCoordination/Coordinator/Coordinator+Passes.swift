import QuireCore
import Synchronization

/// A program's leave for one short operation without a claim: nobody was in its way, and nobody was to be asked, when it was
/// given.
///
/// A program beside apps that have to do with other items pays for a look then, not for a claim. Looked at again by
/// `isValid` in the middle of the operation, where `MountWriters.finishOperations` waits for it.
package struct Pass: Sendable, Hashable {
    fileprivate let epoch: UInt64
}

extension Coordinator {
    /// Leave for an operation of the mount's purpose. Nil where an app claims anything or is about to, and where somebody
    /// presents one of the items, something above it, something below it, or something in the same package.
    package func pass(for accesses: [Access]) -> Pass? {
        guard !hasExplicitClaims else { return nil }
        return state.withLock { state in
            guard state.announced == 0, !state.machine.hasExplicitClaims,
                !accesses.contains(where: { state.machine.concernsPresenters(document: $0.path) })
            else { return nil }
            return Pass(epoch: passes.load(ordering: .relaxed))
        }
    }

    /// Whether still nobody is in the way: no app claimed, no presenter came, nothing moved since. One relaxed atomic load.
    package func isValid(_ pass: Pass) -> Bool { passes.load(ordering: .relaxed) == pass.epoch }

    /// Ends all passes; with the state locked. Who must know that no operation goes on by one waits for those that had begun
    /// by `finishOperations`, with nothing locked.
    func endPasses() { passes.wrappingAdd(1, ordering: .relaxed) }

    // MARK: Announcing

    /// Has the mount see that somebody is about to ask, and waits for what its programs began before they could.
    ///
    /// - Parameter waits: else there is none where it would have to wait.
    /// - Returns: whether it is to be ended: not for the mount's own, which need no announcement. Nil where it had to wait.
    func announce(_ purpose: Purpose, waiting waits: Bool = true) -> Bool? {
        guard purpose != .mount else { return false }
        let isSeen = state.withLock { state in
            // Since somebody claimed, or had waited here, no program can have begun without asking.
            let isSeen = state.machine.hasExplicitClaims || state.seen > 0
            state.announced += 1
            if isSeen { state.seen += 1 }
            endPasses()
            publish(state)
            return isSeen
        }
        if isSeen { return true }
        guard waits || isMountIdle else {
            state.withLock { state in
                state.announced -= 1
                publish(state)
            }
            return nil
        }
        if waits { finishOperations() }
        state.withLock { $0.seen += 1 }
        return true
    }

    /// The request was entered, or not.
    func endAnnouncement() {
        state.withLock { state in
            state.endAnnouncement()
            publish(state)
        }
    }
}

extension Coordinator.State {
    mutating func endAnnouncement() {
        announced -= 1
        seen -= 1
    }
}

extension CoordinationMachine {
    /// The same as `concernsPresenters` of what `path` is part of: a package is one document.
    fileprivate func concernsPresenters(document path: RelativePath) -> Bool {
        concernsPresenters(packages.root(of: path) ?? path)
    }
}
