import Testing

@testable import Quire

@Suite("Undo")
@MainActor
struct UndoManagerTests {
    /// A number that says how each change of it is taken back.
    @MainActor
    private final class Counter {
        let undo = UndoManager()
        private(set) var steps: [UndoManager.Step] = []
        var value = 0 {
            didSet { undo.registerUndo(withTarget: self) { $0.value = oldValue } }
        }

        init() { undo.observer = { [weak self] in self?.steps.append($0) } }
    }

    @Test("What is undone can be redone, and undone again; a new edit ends what could be redone")
    func undoAndRedo() {
        let counter = Counter()
        counter.value = 1
        counter.value = 2
        counter.undo.undo()
        #expect(counter.value == 1 && counter.undo.canUndo && counter.undo.canRedo)
        counter.undo.undo()
        #expect(counter.value == 0 && !counter.undo.canUndo)
        counter.undo.undo()
        #expect(counter.value == 0)
        counter.undo.redo()
        counter.undo.redo()
        #expect(counter.value == 2 && !counter.undo.canRedo)
        counter.undo.undo()
        counter.value = 9
        #expect(!counter.undo.canRedo)
        counter.undo.redo()
        #expect(counter.value == 9)
        #expect(counter.steps == [.done, .done, .undone, .undone, .redone, .redone, .undone, .done])
    }

    @Test("A group is one step, its newest action first; one inside of it belongs to it; an empty one leaves no trace")
    func groups() {
        let counter = Counter()
        counter.undo.beginUndoGrouping()
        counter.value = 1
        counter.undo.beginUndoGrouping()
        counter.value = 2
        #expect(counter.undo.groupingLevel == 2)
        counter.undo.endUndoGrouping()
        counter.value = 3
        counter.undo.endUndoGrouping()
        counter.undo.beginUndoGrouping()
        counter.undo.endUndoGrouping()
        counter.undo.setActionName("Counting")
        #expect(counter.steps == [.done] && counter.undo.undoActionName == "Counting")
        counter.undo.undo()
        #expect(counter.value == 0 && counter.undo.redoActionName == "Counting")
        counter.undo.redo()
        #expect(counter.value == 3 && counter.undo.undoActionName == "Counting")
        // One that is open is closed by undoing.
        counter.undo.beginUndoGrouping()
        counter.value = 4
        counter.undo.undo()
        #expect(counter.value == 3 && counter.undo.groupingLevel == 0)
    }

    @Test("Levels, disabling and forgetting bound what can be undone; with a target go its actions")
    func bounds() {
        let counter = Counter()
        counter.undo.levelsOfUndo = 2
        for number in 1...5 { counter.value = number }
        for _ in 0..<5 { counter.undo.undo() }
        #expect(counter.value == 3)
        counter.undo.removeAllActions()
        counter.undo.disableUndoRegistration()
        counter.value = 7
        counter.undo.enableUndoRegistration()
        #expect(!counter.undo.canUndo && !counter.undo.canRedo && counter.undo.isUndoRegistrationEnabled)
        counter.value = 8
        counter.undo.removeAllActions(withTarget: counter)
        #expect(!counter.undo.canUndo)
        let manager = UndoManager()
        var calls = 0
        do {
            let gone = Counter()
            manager.registerUndo(withTarget: gone) { _ in calls += 1 }
        }
        manager.undo()
        #expect(calls == 0)
    }
}
