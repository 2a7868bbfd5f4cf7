import Testing

@testable import Quire

@Suite("Document machine")
struct DocumentMachineTests {
    private static let first = ContentStamp(modifiedNanoseconds: 1_000, size: 5)
    private static let second = ContentStamp(modifiedNanoseconds: 2_000, size: 5)

    private static func opened(_ stamp: ContentStamp = first) -> DocumentMachine {
        var machine = DocumentMachine()
        expect(machine.beginOpening(), true)
        machine.opened(stamp)
        return machine
    }

    @Test("It is closed, opens once, and is closed again")
    func phases() {
        var machine = DocumentMachine()
        #expect(machine.state == .closed)
        expect(machine.beginOpening(), true)
        expect(machine.beginOpening(), false)
        #expect(machine.state == .closed)
        machine.downloading(true)
        #expect(machine.state == [.closed, .progressAvailable])
        machine.opened(Self.first)
        #expect(machine.state == .normal)
        expect(machine.beginOpening(), false)
        machine.edited(.done)
        machine.closed()
        #expect(machine.state == .closed)
        #expect(!machine.hasUnsavedChanges)
    }

    @Test("An edit made after undoing what was saved is unsaved, however much of it is undone")
    func beyondSaved() {
        var machine = Self.opened()
        machine.edited(.done)
        machine.saved(token: machine.changeCountToken, Self.first)
        machine.edited(.undone)
        machine.edited(.done)
        #expect(machine.hasUnsavedChanges)
        machine.edited(.undone)
        #expect(machine.hasUnsavedChanges)
        machine.saved(token: machine.changeCountToken, Self.second)
        #expect(!machine.hasUnsavedChanges)
    }

    @Test(
        "Undoing all edits leaves nothing to save; a save covers what was done before it, in whatever direction it went on"
    )
    func counting() {
        var machine = Self.opened()
        machine.edited(.done)
        machine.edited(.undone)
        #expect(!machine.hasUnsavedChanges)
        machine.edited(.redone)
        let token = machine.changeCountToken
        machine.edited(.done)
        machine.saved(token: token, Self.second)
        #expect(machine.hasUnsavedChanges)
        machine.edited(.undone)
        #expect(!machine.hasUnsavedChanges)
        // Undoing what is saved already is a change, too.
        machine.edited(.undone)
        #expect(machine.hasUnsavedChanges)
        machine.edited(.cleared)
        #expect(!machine.hasUnsavedChanges)
    }

    @Test("What is undone during a save and another edit in its place are unsaved after it", arguments: [false, true])
    func undoneMeanwhile(isSave: Bool) {
        var machine = Self.opened()
        machine.edited(.done)
        machine.edited(.done)
        let token = machine.changeCountToken
        machine.edited(.undone)
        machine.edited(.done)
        if isSave { machine.saved(token: token, Self.second) } else { machine.edited(covering: token) }
        #expect(machine.hasUnsavedChanges)
        machine.edited(.undone)
        #expect(machine.hasUnsavedChanges)
        machine.saved(token: machine.changeCountToken, Self.second)
        #expect(!machine.hasUnsavedChanges)
    }

    @Test("Where counting begins anew during a save, what is there then is unsaved after it", arguments: 0..<3)
    func begunAnewMeanwhile(way: Int) {
        var machine = Self.opened()
        machine.edited(.done)
        let token = machine.changeCountToken
        switch way {
        case 0: machine.edited(.cleared)
        case 1: machine.reloaded(Self.second)
        default:
            machine.closed()
            expect(machine.beginOpening(), true)
            machine.opened(Self.second)
        }
        machine.edited(.done)
        machine.saved(token: token, Self.second)
        #expect(machine.hasUnsavedChanges)
    }

    @Test("What was undone before a reload is not there to be made again")
    func undoneBeforeReload() {
        var machine = Self.opened()
        machine.edited(.done)
        machine.edited(.undone)
        machine.reloaded(Self.second)
        machine.edited(.done)
        let token = machine.changeCountToken
        machine.saved(token: token, Self.second)
        #expect(!machine.hasUnsavedChanges)
    }

    @Test("What is undone during a save and made again is saved")
    func redoneMeanwhile() {
        var machine = Self.opened()
        machine.edited(.done)
        machine.edited(.done)
        let token = machine.changeCountToken
        machine.edited(.undone)
        machine.edited(.redone)
        machine.saved(token: token, Self.second)
        #expect(!machine.hasUnsavedChanges)
    }

    @Test("A save that failed when the content was there already does not take it for another's")
    func failedAfterwards() {
        var machine = Self.opened()
        machine.edited(.done)
        machine.saveFailed(written: Self.second)
        #expect(machine.hasUnsavedChanges)
        #expect(machine.state == .savingError)
        #expect(!machine.planSave(token: machine.changeCountToken, over: Self.second).keepsOther)
        #expect(machine.planSave(token: machine.changeCountToken, over: Self.first).keepsOther)
    }

    @Test("What others wrote is loaded where nothing is unsaved, and kept beside the edits where something is")
    func reactions() {
        var machine = Self.opened()
        expect(machine.changed(Self.first), .nothing)
        expect(machine.changed(nil), .nothing)
        expect(machine.changed(Self.second), .reload)
        machine.reloaded(Self.second)
        expect(machine.changed(Self.second), .nothing)
        machine.edited(.done)
        expect(machine.changed(Self.second), .nothing)
        #expect(machine.state == .normal)
        expect(machine.changed(Self.first), .keepBoth)
        #expect(machine.state == .inConflict)
        let plan = machine.planSave(token: machine.changeCountToken, over: Self.first)
        #expect(plan == .init(token: machine.changeCountToken, keepsOther: true))
        machine.saved(token: plan.token, ContentStamp(modifiedNanoseconds: 3_000, size: 9))
        #expect(machine.state == .normal)
        #expect(!machine.hasUnsavedChanges)
    }

    @Test("A save that nobody warned finds other content by itself, an ordinary one finds its own")
    func plans() {
        let machine = Self.opened()
        let token = machine.changeCountToken
        #expect(!machine.planSave(token: token, over: Self.first).keepsOther)
        #expect(!machine.planSave(token: token, over: nil).keepsOther)
        #expect(machine.planSave(token: token, over: Self.second).keepsOther)
        #expect(machine.planSave(token: token, over: ContentStamp(modifiedNanoseconds: 1_000, size: 6)).keepsOther)
    }

    @Test("A stamp as young as the clock's tick proves nothing: what may have changed is read again")
    func racy() {
        let young = ContentStamp(modifiedNanoseconds: 1_000, size: 5, isRacy: true)
        var machine = Self.opened(young)
        expect(machine.changed(Self.first), .reload)
        machine.edited(.done)
        expect(machine.changed(Self.first), .nothing)
    }

    @Test("Editing is disabled until the last of several writers is done; a failed save is told until one succeeds")
    func states() {
        var machine = Self.opened()
        machine.relinquishedToWriter()
        machine.relinquishedToWriter()
        machine.reacquired()
        #expect(machine.state == .editingDisabled)
        machine.reacquired()
        machine.reacquired()
        #expect(machine.state == .normal)
        machine.saveFailed()
        machine.foundConflicts(2)
        #expect(machine.state == [.savingError, .inConflict])
        machine.saved(token: machine.changeCountToken, Self.second)
        #expect(machine.state == .inConflict)
        machine.foundConflicts(0)
        #expect(machine.state == .normal)
    }

    @Test("The bits are UIKit's")
    func bits() {
        let bits = [DocumentState.closed, .inConflict, .savingError, .editingDisabled, .progressAvailable]
        #expect(bits.map(\.rawValue) == [1, 2, 4, 8, 16])
        #expect(DocumentState.normal.isEmpty)
    }
}

/// `#expect` of what a mutating method says.
private func expect<Value: Equatable>(
    _ found: Value, _ wanted: Value, sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(found == wanted, sourceLocation: sourceLocation)
}
