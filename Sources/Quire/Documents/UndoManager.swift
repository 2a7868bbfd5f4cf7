/// How edits are taken back and made again (UndoManager).
///
/// Register with each edit how to take it back; what is registered while edits are taken back is how to make them again.
/// A document that has one counts its edits by it, see `Document.undoManager`. There is no run loop: each registration outside
/// of a group is a group of its own.
@MainActor
public final class UndoManager {
    /// What was done, for whoever counts edits.
    enum Step { case done, undone, redone }

    private struct Action {
        weak var target: AnyObject?
        let perform: @MainActor (AnyObject) -> Void
    }

    private struct Group {
        var actions: [Action] = []
        var name = ""
    }

    private var undoStack: [Group] = []
    private var redoStack: [Group] = []
    /// The groups that are open, the outermost first.
    private var open: [Group] = []
    private var disabling = 0
    /// Called when a group was closed, undone or redone.
    var observer: ((Step) -> Void)?

    /// With nothing to undo.
    public init() {}

    // MARK: What is so

    /// How many groups are kept, the oldest are forgotten; 0, the default, for all.
    public var levelsOfUndo = 0 { didSet { forgetOldest() } }
    /// Whether actions are being taken back.
    public private(set) var isUndoing = false
    /// Whether actions are being made again.
    public private(set) var isRedoing = false
    /// Whether there is something to take back.
    public var canUndo: Bool { !undoStack.isEmpty || open.contains { !$0.actions.isEmpty } }
    /// Whether there is something to make again.
    public var canRedo: Bool { !redoStack.isEmpty }
    /// How many groups are open.
    public var groupingLevel: Int { open.count }
    /// Whether registrations count, see `disableUndoRegistration()`.
    public var isUndoRegistrationEnabled: Bool { disabling == 0 }
    /// What `undo()` would take back, for people; empty without a name.
    public var undoActionName: String { (open.first ?? undoStack.last)?.name ?? "" }
    /// What `redo()` would make again, for people; empty without a name.
    public var redoActionName: String { redoStack.last?.name ?? "" }

    // MARK: Registering

    /// Registers how to take back what was just done.
    ///
    /// - Parameters:
    ///   - target: what `handler` gets. Not retained: with it goes the action.
    ///   - handler: makes the edit backwards, and registers that in turn.
    public func registerUndo<Target: AnyObject>(
        withTarget target: Target, handler: @escaping @MainActor (Target) -> Void
    ) {
        guard isUndoRegistrationEnabled else { return }
        let action = Action(target: target) { target in
            // It is what was registered.
            if let target = target as? Target { handler(target) }
        }
        if !isUndoing, !isRedoing { redoStack = [] }
        let isAlone = open.isEmpty
        if isAlone { beginUndoGrouping() }
        open[open.count - 1].actions.append(action)
        if isAlone { endUndoGrouping() }
    }

    /// Names what the open group, or else the newest one, does, for people.
    public func setActionName(_ name: String) {
        if !open.isEmpty {
            open[0].name = name
        } else if !undoStack.isEmpty {
            undoStack[undoStack.count - 1].name = name
        }
    }

    /// Actions from now on are taken back in one step, until `endUndoGrouping()`. May nest.
    public func beginUndoGrouping() { open.append(Group()) }

    /// Ends the group that was begun last; one inside of another becomes part of it. An empty one leaves no trace.
    public func endUndoGrouping() {
        guard let group = open.popLast() else { return }
        if !open.isEmpty {
            open[open.count - 1].actions += group.actions
            return
        }
        guard !group.actions.isEmpty else { return }
        if isUndoing {
            redoStack.append(group)
        } else {
            undoStack.append(group)
            forgetOldest()
        }
        if !isUndoing, !isRedoing { observer?(.done) }
    }

    /// Registrations are ignored until `enableUndoRegistration()`. Calls nest.
    public func disableUndoRegistration() { disabling += 1 }

    /// Takes one `disableUndoRegistration()` back.
    public func enableUndoRegistration() { disabling = max(0, disabling - 1) }

    // MARK: Undoing

    /// Takes the newest group back, its newest action first. An open group is closed before; nothing happens without one.
    public func undo() {
        guard !isUndoing, !isRedoing else { return }
        while !open.isEmpty { endUndoGrouping() }
        guard let group = undoStack.popLast() else { return }
        isUndoing = true
        perform(group)
        isUndoing = false
        observer?(.undone)
    }

    /// Makes again what was taken back last.
    public func redo() {
        guard !isUndoing, !isRedoing, let group = redoStack.popLast() else { return }
        isRedoing = true
        perform(group)
        isRedoing = false
        observer?(.redone)
    }

    /// Forgets all.
    public func removeAllActions() { (undoStack, redoStack, open) = ([], [], []) }

    /// Forgets the actions of one target.
    public func removeAllActions(withTarget target: AnyObject) {
        undoStack = without(target, undoStack)
        redoStack = without(target, redoStack)
        for index in open.indices { open[index].actions.removeAll { $0.target === target } }
    }

    /// What `group` registers while it runs is one group, with its name.
    private func perform(_ group: Group) {
        beginUndoGrouping()
        open[0].name = group.name
        for action in group.actions.reversed() {
            if let target = action.target { action.perform(target) }
        }
        while !open.isEmpty { endUndoGrouping() }
    }

    private func without(_ target: AnyObject, _ groups: [Group]) -> [Group] {
        groups.compactMap { group in
            var group = group
            group.actions.removeAll { $0.target === target }
            return group.actions.isEmpty ? nil : group
        }
    }

    private func forgetOldest() {
        guard levelsOfUndo > 0 else { return }
        undoStack.removeFirst(max(0, undoStack.count - levelsOfUndo))
    }
}
