import QuireCoordination
import QuireCore
import Testing

@Suite("Nesting and deadlock")
struct ClaimCycleTests {
    @Test("A read inside a writer's access goes ahead of those who wait for the writer")
    func nestedRead() {
        var table = ClaimTable()
        _ = table.ask(1, .writing("X"), purpose: "p")
        _ = table.ask(2, .writing("X"), purpose: "q")
        #expect(table.ask(3, .reading("X"), purpose: "p").granted == [3])
        #expect(table.release(1).granted.isEmpty, "the nested read is still held")
        #expect(table.release(3).granted == [2])
    }

    @Test("An independent request of the same purpose waits behind those who came first")
    func independent() {
        var table = ClaimTable()
        _ = table.ask(1, .reading("X"), purpose: "quire.mount")
        _ = table.ask(2, .writing("X"), purpose: "q")
        #expect(table.ask(3, .reading("X"), purpose: "quire.mount").granted.isEmpty)
        #expect(table.release(1).granted == [2])
    }

    @Test("The newcomer that would close a cycle of two fails, and the error names both")
    func cycleOfTwo() throws {
        var table = ClaimTable()
        _ = table.ask(1, .writing("A"), purpose: "p")
        _ = table.ask(2, .writing("B"), purpose: "q")
        #expect(table.ask(3, .writing("B"), purpose: "p").isEmpty)
        let actions = table.ask(4, .writing("A"), purpose: "q")
        #expect(actions.failed == [4])
        guard case .deadlock(let cycle) = try #require(actions.codes.first) else {
            Issue.record("not a deadlock: \(actions)")
            return
        }
        #expect(cycle.map(\.id.rawValue) == [4, 1, 3, 2])
        #expect(cycle.map(\.purpose.rawValue) == ["q", "p", "p", "q"])
        #expect(CoordinationError(.deadlock(cycle: cycle)).description.contains("writing A"))
        #expect(table.release(2).granted == [3], "the others go on")
    }

    @Test("Longer cycles are found", arguments: [3, 10, 200] as [UInt64])
    func longCycle(count: UInt64) {
        var table = ClaimTable()
        for id in 0..<count { _ = table.ask(id, .writing(item("item \(id)")), purpose: "p\(id)") }
        for id in 0..<(count - 1) {
            #expect(table.ask(count + id, .reading(item("item \(id + 1)")), purpose: "p\(id)").isEmpty)
        }
        #expect(table.ask(3 * count, .reading("item 0"), purpose: "p\(count - 1)").failed == [3 * count])
    }

    @Test("A cycle through a directory that is being deleted is found")
    func cycleThroughTree() {
        var table = ClaimTable()
        _ = table.ask(1, .writing("dir/file"), purpose: "p")
        _ = table.ask(2, .writing("other"), purpose: "q")
        #expect(table.ask(3, .writing("dir", .deleting), purpose: "q").isEmpty)
        #expect(table.ask(4, .reading("other"), purpose: "p").failed == [4])
    }

    @Test("Two readers that both want to write: the second fails")
    func upgrade() {
        var table = ClaimTable()
        _ = table.ask(1, .reading("X"), purpose: "p")
        _ = table.ask(2, .reading("X"), purpose: "q")
        #expect(table.ask(3, .writing("X"), purpose: "p").isEmpty)
        #expect(table.ask(4, .writing("X"), purpose: "q").failed == [4])
        #expect(table.release(2).granted == [3])
    }

    @Test("A nested request goes ahead of a waiter for its purpose's claims and still waits for strangers")
    func overtakesOnlyItsWaiters() {
        var table = ClaimTable()
        _ = table.ask(1, .writing("A"), purpose: "p")
        _ = table.ask(2, .reading("B"), purpose: "stranger")
        _ = table.ask(3, .writing("A"), .writing("B"), purpose: "q")
        #expect(table.ask(4, .writing("B"), purpose: "p").isEmpty)
        #expect(table.ask(5, .reading("B"), purpose: "late").isEmpty)
        #expect(table.release(2).granted == [4])
        #expect(table.release(1).granted.isEmpty)
        #expect(table.release(4).granted == [3])
        #expect(table.release(3).granted == [5])
    }

    @Test("A request made before its purpose held anything is not nested in what it got later")
    func notNestedInLaterClaims() {
        var table = ClaimTable()
        _ = table.ask(1, .writing("A"), purpose: "holder of A")
        _ = table.ask(2, .writing("A"), purpose: "p")
        _ = table.ask(3, .writing("B"), purpose: "q")
        _ = table.ask(4, .writing("B"), purpose: "p")
        #expect(table.release(1).granted == [2])
        #expect(table.ask(5, .writing("A"), purpose: "q").isEmpty, "claim 2 ends whether or not 4 is granted")
        #expect(table.release(2).granted == [5])
    }

    @Test("A move that makes a cycle fails its youngest nested request")
    func cycleByMove() {
        var table = ClaimTable()
        _ = table.ask(1, .writing("A"), purpose: "p")
        _ = table.ask(2, .writing("B"), purpose: "q")
        _ = table.ask(3, .writing("mover"), .reading("C"), purpose: "m")
        #expect(table.ask(4, .writing("B"), purpose: "p").isEmpty)
        #expect(table.ask(5, .writing("C"), purpose: "q").isEmpty)
        let actions = table.moved(from: "C", to: "A")
        #expect(actions.failed == [5])
    }
}
