package import QuireCore
import Synchronization

/// What presenters are to be told of a change that was entered already, and who goes on because of it.
package struct UntoldChange: Sendable {
    var actions: [CoordinationAction] = []

    /// Of which nobody is to hear.
    package static let nothing = UntoldChange()

    /// Whether nobody is to hear of it.
    package var isEmpty: Bool { actions.isEmpty }

    package static func + (left: UntoldChange, right: UntoldChange) -> UntoldChange {
        UntoldChange(actions: left.actions + right.actions)
    }
}

/// Changes that are entered when they happen, and told when programs meet them: the kernel brings a name a moment after the
/// driver has.
extension Coordinator {
    /// Enters a change: claims and presenters are where it puts them from now on. Nothing happens while nobody is registered
    /// and nothing is claimed.
    package func enter(_ change: (inout CoordinationMachine) -> [CoordinationAction]) -> UntoldChange {
        guard hasPresenters || hasClaims else { return .nothing }
        return state.withLock { state in
            let actions = change(&state.machine)
            // Claims and presenters may be elsewhere. Who goes on by a pass began before, as with a claim.
            endPasses()
            publish(state)
            return UntoldChange(actions: actions)
        }
    }

    /// Tells it, and lets those go on who may.
    package func tell(_ untold: UntoldChange) {
        if !untold.isEmpty { perform { _ in untold.actions } }
    }

    /// A process renamed an item. Not told is the presenter whose coordinated write that is part of, or the process's
    /// presenters where it is part of none.
    package func enterMove(from: RelativePath, to: RelativePath, by process: Int32) -> UntoldChange {
        enter { $0.moved(from: from, to: to, except: $0.doer(of: [from, to], process: process)) }
    }

    /// A process renamed a new file over a document: that is a write of the document. Claims of the new file follow it.
    package func enterSave(of path: RelativePath, from: RelativePath, by process: Int32) -> UntoldChange {
        enter { $0.saved(path, from: from, except: $0.doer(of: [path], process: process)) }
    }
}
