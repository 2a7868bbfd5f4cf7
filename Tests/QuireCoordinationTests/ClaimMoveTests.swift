import QuireCoordination
import QuireCore
import Testing

@Suite("Moves under claims")
struct ClaimMoveTests {
    @Test("Holder and waiter follow the item, and the old name is free")
    func follow() {
        var table = ClaimTable()
        _ = table.ask(1, .writing("old/file"))
        _ = table.ask(2, .reading("old/file"))
        #expect(table.moved(from: "old", to: "new/place").isEmpty)
        #expect(table.path(1) == "new/place/file" && table.path(2) == "new/place/file")
        #expect(table.ask(3, .writing("old/file")).granted == [3])
        #expect(table.ask(4, .writing("new/place/file")).granted.isEmpty)
        let actions = table.release(1)
        #expect(actions == [.grant(ClaimID(2), [.reading("new/place/file")])])
    }

    @Test("A safe move keeps what it replaces claimed, and its waiters see the new name")
    func safeMove() {
        var table = ClaimTable()
        _ = table.ask(1, .writing("tmp", .moving), .writing("document", .replacing))
        _ = table.ask(2, .reading("tmp"))
        _ = table.ask(3, .reading("document"))
        _ = table.moved(from: "tmp", to: "document")
        #expect(table.accesses(of: ClaimID(1))?.map(\.path) == ["document", "document"])
        #expect(table.release(1).granted == [2, 3])
        #expect(table.path(2) == "document")
    }

    @Test("A write for replacing stays at its path when the item there moves away")
    func replacingStays() {
        var table = ClaimTable()
        _ = table.ask(1, .writing("X", .moving))
        _ = table.ask(2, .writing("X", .replacing))
        _ = table.ask(3, .writing("X"))
        #expect(table.moved(from: "X", to: "Y").granted == [2])
        #expect(table.path(2) == "X" && table.path(3) == "Y")
        #expect(table.release(1).granted == [3])
    }

    @Test("A waiter that moves beside a younger holder waits for it")
    func meetsYoungerHolder() {
        var table = ClaimTable()
        _ = table.ask(1, .writing("A"))
        _ = table.ask(2, .writing("A"))
        _ = table.ask(3, .writing("B"))
        #expect(table.moved(from: "A", to: "B").isEmpty)
        #expect(table.release(1).granted.isEmpty, "3 is still held")
        #expect(table.release(3).granted == [2])
    }

    @Test("A waiter below a directory that is moved into a claimed tree waits for that tree")
    func movesBelowTree() {
        var table = ClaimTable()
        _ = table.ask(1, .writing("A/x"))
        _ = table.ask(2, .reading("A/x"))
        _ = table.ask(3, .writing("T", .deleting))
        #expect(table.moved(from: "A", to: "T/A").isEmpty)
        #expect(table.release(1).granted.isEmpty)
        #expect(table.release(3).granted == [2])
    }

    @Test("A swap exchanges the claims of both items and of what is below")
    func exchange() {
        var table = ClaimTable()
        _ = table.ask(1, .writing("a/x"))
        _ = table.ask(2, .writing("b"))
        _ = table.moved([.init(from: "a", to: "b"), .init(from: "b", to: "a")])
        #expect(table.path(1) == "b/x" && table.path(2) == "a")
    }

    @Test("An item that leaves its package no longer counts as the package, and one that enters does")
    func packages() {
        var table = ClaimTable()
        _ = table.ask(1, .writing("P/a", packageRoot: "P"))
        _ = table.ask(2, .reading("P"))
        #expect(table.moved(from: "P/a", to: "D/a").granted == [2])
        #expect(table.moved(from: "D", to: "P/D", destinationPackage: "P").isEmpty)
        #expect(table.ask(3, .reading("P/other", packageRoot: "P")).granted.isEmpty)
        #expect(table.moved(from: "P", to: "Q").isEmpty)
        #expect(table.accesses(of: ClaimID(1)) == [.writing("Q/D/a", packageRoot: "Q")])
    }

    @Test("Moving what nobody claimed, or onto itself, changes nothing")
    func nothing() {
        var table = ClaimTable()
        _ = table.ask(1, .writing("A"))
        #expect(table.moved(from: "B", to: "C").isEmpty)
        #expect(table.moved(from: "A", to: "A").isEmpty)
        #expect(table.path(1) == "A")
    }
}
