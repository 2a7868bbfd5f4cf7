import QuireCoordination
import QuireCore
import Testing

@Suite("What presenters are told")
struct PresenterMessageTests {
    @Test("A move: the item's presenters and those below, then those of the directories on both sides")
    func moves() {
        var script = MachineScript()
        script.present("dir")
        script.present("dir/a")
        script.present("x", isDirectory: true)
        script.present("y", isDirectory: true)
        script.move("dir", "x/dir")
        #expect(
            script.happened() == ["P1 didMove x/dir", "P2 didMove x/dir/a", "P3 subitemDidMove dir x/dir"])
        script.move("x/dir/a", "y/a")
        #expect(
            script.happened() == [
                "P2 didMove y/a", "P3 subitemDidMove x/dir/a y/a", "P1 subitemDidMove x/dir/a y/a",
                "P4 subitemDidMove x/dir/a y/a",
            ])
        script.move("y/a", "y/a")
        #expect(script.happened() == [])
    }

    @Test("Who presents what is replaced stays, and is told that it changed")
    func replaced() {
        var script = MachineScript()
        script.present("a")
        script.present("b")
        script.move("a", "b")
        #expect(script.happened() == ["P1 didMove b", "P2 didChange"])
        script.move("b", "c", except: 1)
        #expect(script.happened() == ["P2 didMove c"])
        #expect(script.machine.presenterReports(now: .zero).map(\.path) == ["c", "c"])
    }

    @Test("An exchange moves both")
    func exchange() {
        var script = MachineScript()
        script.present("a")
        script.present("b")
        script.add(script.machine.exchanged("a", "b"))
        #expect(script.happened() == ["P1 didMove b", "P2 didMove a"])
    }

    @Test("A waiter's and an asking request's items follow a move")
    func claimsFollow() {
        var script = MachineScript()
        script.present("a")
        script.ask(1, .reading("a", .withoutChanges))
        script.move("a", "b")
        script.answer(1, by: 1)
        #expect(script.happened() == ["?1 P1 relinquishToReader", "P1 didMove b", "#1 granted b"])
    }

    @Test("A change below a directory or package reaches the presenters above it, at any depth")
    func subitems() {
        var script = MachineScript()
        script.present("dir", isDirectory: true)
        script.present("dir/P.pkg", isDirectory: true)
        script.present("dir/P.pkg", callbacks: [.didChange], isDirectory: true)
        script.present("dir", callbacks: [.didChange], isDirectory: true)
        script.add(script.machine.changed("dir/P.pkg/a"))
        #expect(
            script.happened() == [
                "P1 subitemDidChange dir/P.pkg/a", "P2 subitemDidChange dir/P.pkg/a", "P3 didChange",
            ])
        script.add(script.machine.appeared("dir/b"))
        script.add(script.machine.disappeared("dir/b"))
        #expect(script.happened() == ["P1 subitemDidAppear dir/b", "P1 subitemDidChange dir/b"])
        script.add(script.machine.changed("dir"))
        #expect(script.happened() == [])
        script.add(script.machine.changed("dir/P.pkg"))
        #expect(
            script.happened() == ["P2 didChange", "P3 didChange", "P1 subitemDidChange dir/P.pkg"])
    }

    @Test("Versions are told to everybody; ubiquity attributes to those who observe them")
    func versionsAndAttributes() {
        var script = MachineScript()
        script.present("dir/a", observing: ["isUploaded"])
        script.present("dir")
        script.add(script.machine.versionChanged(.gained, id: "v1", of: "dir/a"))
        #expect(script.happened() == ["P1 gained v1 own", "P2 gained v1 dir/a"])
        script.add(script.machine.ubiquityAttributesChanged("dir/a", ["isUploaded", "isDownloading"]))
        script.add(script.machine.ubiquityAttributesChanged("dir/a", ["isDownloading"]))
        #expect(script.happened() == ["P1 attributes isUploaded"])
    }

    @Test("A presenter without an item hears nothing until it has one")
    func noItemYet() {
        var script = MachineScript()
        let id = script.present(nil)
        script.add(script.machine.changed("a"))
        #expect(script.happened() == [])
        let isSet = script.machine.setPath("a", of: PresenterID(id), by: ClientID(id))
        let isSetByAnother = script.machine.setPath("b", of: PresenterID(id), by: ClientID(99))
        #expect(isSet && !isSetByAnother)
        script.add(script.machine.appeared("a"))
        #expect(script.happened() == ["P1 didChange"])
    }

    @Test("The write of a client that dies inside its accessor counts as a change")
    func writerDied() {
        var script = MachineScript()
        script.present("a")
        script.ask(1, .writing("a"), client: 9)
        script.answer(1, by: 1, .done(reacquires: true))
        _ = script.happened()
        script.clientGone(9)
        #expect(script.happened() == ["P1 didChange", "P1 reacquire 1"])
    }
}
