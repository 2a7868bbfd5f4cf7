import QuireCoordination
import QuireCore
import Testing

@Suite("Presenters")
struct PresenterTests {
    @Test("A read asks the item's presenter to relinquish, then to save; it reacquires when the read ends")
    func read() {
        var script = MachineScript()
        script.present("a")
        script.present("b")
        script.ask(1, .reading("a"))
        #expect(script.happened() == ["?1 P1 relinquishToReader"])
        script.answer(1, by: 1, .done(reacquires: true))
        #expect(script.happened() == ["?2 P1 save"])
        script.answer(2, by: 1)
        #expect(script.happened() == ["#1 granted a"])
        script.release(1)
        #expect(script.happened() == ["P1 reacquire 1"])
        script.release(1)
        #expect(script.happened() == [])
    }

    @Test("A read without changes asks for no saving")
    func withoutChanges() {
        var script = MachineScript()
        script.present("a")
        script.ask(1, .reading("a", .withoutChanges))
        script.answer(1, by: 1)
        #expect(script.happened() == ["?1 P1 relinquishToReader", "#1 granted a"])
    }

    @Test("A write asks to relinquish; at its end comes did-change, then reacquire")
    func write() {
        var script = MachineScript()
        script.present("a")
        script.ask(1, .writing("a"))
        script.answer(1, by: 1, .done(reacquires: true))
        #expect(script.happened() == ["?1 P1 relinquishToWriter", "#1 granted a"])
        script.release(1)
        #expect(script.happened() == ["P1 didChange", "P1 reacquire 1"])
    }

    @Test("A write for merging asks to save first")
    func merging() {
        var script = MachineScript()
        script.present("a")
        script.ask(1, .writing("a", .merging))
        script.answer(1, by: 1)
        script.answer(2, by: 1)
        #expect(script.happened() == ["?1 P1 relinquishToWriter", "?2 P1 save", "#1 granted a"])
    }

    @Test(
        "Deleting a directory asks the presenters of all in it, each in its own order",
        arguments: [
            WritingOption.deleting, .replacing,
        ])
    func deleting(option: WritingOption) {
        var script = MachineScript()
        script.present("dir")
        script.present("dir/a")
        script.ask(1, .writing("dir", option))
        #expect(script.happened() == ["?1 P1 relinquishToWriter", "?2 P2 relinquishToWriter"])
        script.answer(2, by: 2)
        #expect(script.happened() == ["?3 P2 accommodateDeletion"])
        script.answer(1, by: 1)
        script.answer(3, by: 2)
        #expect(script.happened() == ["?4 P1 accommodateDeletion"])
        script.answer(4, by: 1)
        #expect(script.happened() == ["#1 granted dir"])
    }

    @Test("Moving a directory asks the presenters in it to relinquish; a plain write of it does not")
    func moving() {
        var script = MachineScript()
        script.present("dir/a")
        script.ask(1, .writing("dir"))
        #expect(script.happened() == ["#1 granted dir"])
        script.release(1)
        script.ask(2, .writing("dir", .moving))
        script.answer(1, by: 1)
        #expect(script.happened() == ["?1 P1 relinquishToWriter", "#2 granted dir"])
    }

    @Test("What is done inside a package is done to the package, and to packages around it")
    func packages() {
        var script = MachineScript()
        script.present("O.bundle")
        script.present("O.bundle/I.pkg")
        script.present("O.bundle/I.pkg/a")
        script.ask(1, .writing("O.bundle/I.pkg/a", .deleting))
        for (question, client) in [(1, 1), (2, 2), (3, 3)] { script.answer(UInt64(question), by: UInt64(client)) }
        #expect(
            script.happened() == [
                "?1 P1 relinquishToWriter", "?2 P2 relinquishToWriter", "?3 P3 relinquishToWriter",
                "?4 P1 accommodateSubitemDeletion O.bundle/I.pkg/a",
                "?5 P2 accommodateSubitemDeletion O.bundle/I.pkg/a", "?6 P3 accommodateDeletion",
            ])
    }

    @Test("A presenter is not asked what it does not implement")
    func unimplemented() {
        var script = MachineScript()
        script.present("a", callbacks: [.saveChanges])
        script.ask(1, .reading("a"))
        script.answer(1, by: 1)
        #expect(script.happened() == ["?1 P1 save", "#1 granted a"])
        script.release(1)
        script.ask(2, .writing("a"))
        script.release(2)
        #expect(script.happened() == ["#2 granted a"])
    }

    @Test("A coordinator's own presenter is neither asked nor told")
    func ownPresenter() {
        var script = MachineScript()
        script.present("a")
        script.present("a")
        script.ask(1, .writing("a"), purpose: "P1", presenter: 1)
        script.answer(1, by: 2)
        script.release(1)
        #expect(script.happened() == ["?1 P2 relinquishToWriter", "#1 granted a", "P2 didChange"])
    }

    @Test("What a presenter writes in answer goes ahead of the read that asked, and the read waits for its end")
    func answerByWriting() {
        var script = MachineScript()
        script.present("a")
        script.ask(1, .reading("a"))
        script.ask(2, .writing("a"))
        script.answer(1, by: 1)
        _ = script.happened()
        script.ask(3, .writing("a"), purpose: "P1", presenter: 1)
        #expect(script.happened() == ["#3 granted a"])
        script.answer(2, by: 1)
        #expect(script.happened() == [])
        script.release(3)
        #expect(script.happened() == ["#1 granted a"])
        script.release(1)
        #expect(script.happened() == ["?3 P1 relinquishToWriter"])
    }

    @Test("So does its process's plain access, and nobody else's")
    func answerByPlainAccess() {
        var script = MachineScript()
        script.present("a")
        script.ask(1, .writing("a"))
        _ = script.happened()
        script.ask(2, .writing("a"), purpose: "quire.mount", process: 77)
        #expect(script.happened() == [])
        script.ask(3, .writing("a"), purpose: "quire.mount", process: 1)
        #expect(script.happened() == ["#3 granted a"])
        script.answer(1, by: 1)
        #expect(script.happened() == [])
        script.release(3)
        #expect(script.happened() == ["#1 granted a"])
    }

    @Test("A presenter that cannot save ends the request with its reason, and the others reacquire")
    func refusal() {
        var script = MachineScript()
        script.present("a")
        script.present("a")
        script.ask(1, .reading("a"))
        script.answer(1, by: 1, .done(reacquires: true))
        script.answer(2, by: 2, .done(reacquires: true))
        _ = script.happened()
        script.answer(3, by: 1, .failed("no room"))
        let error = CoordinationError(.refused(reason: "no room"))
        #expect(script.happened() == ["P1 reacquire 1", "P2 reacquire 2", "#1 failed: \(error)"])
        // Its question is still with the other; the next waits behind it.
        script.ask(2, .reading("a", .withoutChanges))
        script.answer(5, by: 1)
        script.answer(4, by: 2)
        script.answer(6, by: 2)
        #expect(script.happened() == ["?5 P1 relinquishToReader", "?6 P2 relinquishToReader", "#2 granted a"])
    }

    @Test("Who does not answer is passed over, then and later, until it does")
    func hung() {
        var script = MachineScript()
        script.present("a")
        script.ask(1, .reading("a"))
        script.ask(2, .reading("a"))
        _ = script.happened()
        script.timeOut(1)
        #expect(script.happened() == ["P1 hung", "#1 granted a", "#2 granted a"])
        #expect(script.machine.presenterReports(now: .zero).map(\.isHung) == [true])
        script.ask(3, .reading("a"))
        #expect(script.happened() == ["#3 granted a"])
        script.answer(1, by: 1, .done(reacquires: true))
        #expect(script.machine.presenterReports(now: .zero).map(\.isHung) == [false])
        script.release(1)
        #expect(script.happened() == ["P1 reacquire 1"])
        script.ask(4, .reading("a"))
        #expect(script.happened() == ["?2 P1 relinquishToReader"])
    }

    @Test("Of a client that is gone nobody waits for an answer, and nothing of it is granted")
    func clientGone() {
        var script = MachineScript()
        script.present("a", client: 7)
        script.ask(1, .writing("a"), client: 7)
        script.ask(2, .writing("a"), client: 8)
        _ = script.happened()
        script.clientGone(7)
        #expect(script.happened() == ["#1 failed: \(CoordinationError(.cancelled))", "#2 granted a"])
        #expect(!script.machine.hasPresenters)
        script.answer(1, by: 7)
        #expect(script.happened() == [])
    }

    @Test("Answers of other clients do not count")
    func foreignAnswer() {
        var script = MachineScript()
        script.present("a")
        script.ask(1, .reading("a", .withoutChanges))
        _ = script.happened()
        script.answer(1, by: 2)
        #expect(script.happened() == [])
        script.answer(1, by: 1)
        #expect(script.happened() == ["#1 granted a"])
    }

    @Test("A request cancelled while presenters are asked lets those that gave way go on, late ones too")
    func cancelled() {
        var script = MachineScript()
        script.present("a")
        script.present("a")
        script.ask(1, .writing("a"))
        script.answer(1, by: 1, .done(reacquires: true))
        _ = script.happened()
        script.cancel(1)
        #expect(script.happened() == ["P1 reacquire 1", "#1 failed: \(CoordinationError(.cancelled))"])
        script.answer(2, by: 2, .done(reacquires: true))
        #expect(script.happened() == ["P2 reacquire 2"])
    }

    @Test("Presenters are asked when the turn comes, not before")
    func turn() {
        var script = MachineScript()
        script.ask(1, .writing("a"))
        script.present("a")
        script.ask(2, .writing("a"))
        #expect(script.happened() == ["#1 granted a"])
        script.release(1)
        #expect(script.happened() == ["?1 P1 relinquishToWriter"])
    }

    @Test("A preparation asks for all at once, below too; requests of its purpose do not ask to relinquish again")
    func preparation() {
        var script = MachineScript()
        script.present("dir/a")
        script.ask(1, .reading("dir"), purpose: "p", prepares: true)
        script.answer(1, by: 1, .done(reacquires: true))
        script.answer(2, by: 1)
        #expect(script.happened() == ["?1 P1 relinquishToReader", "?2 P1 save", "#1 granted dir"])
        script.ask(2, .reading("dir/a", .withoutChanges), purpose: "p")
        #expect(script.happened() == ["#2 granted dir/a"])
        // It gives access to nothing.
        script.ask(3, .writing("dir"), purpose: "q")
        #expect(script.happened() == ["#3 granted dir"])
        script.release(2)
        script.release(1)
        #expect(script.happened() == ["P1 reacquire 1"])
    }

    @Test("A request that asks nobody waits for claims alone")
    func silent() {
        var script = MachineScript()
        script.present("a")
        let claim = ClaimRequest(id: ClaimID(1), accesses: [.reading("a")], purpose: .mount)
        var request = AccessRequest(claim)
        request.asksNobody = true
        script.add(script.machine.request(request))
        #expect(script.happened() == ["#1 granted a"])
    }

    @Test("A request waits until programs have stopped writing")
    func mount() {
        var script = MachineScript()
        script.ask(1, .reading("a"), asksMount: true)
        #expect(script.happened() == ["#1 asks the mount"])
        script.add(script.machine.mountIsQuiet(ClaimID(1)))
        #expect(script.happened() == ["#1 granted a"])
    }
}
