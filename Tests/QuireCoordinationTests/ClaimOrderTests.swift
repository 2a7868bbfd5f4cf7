import QuireCoordination
import QuireCore
import Testing

@Suite("Order of waiting")
struct ClaimOrderTests {
    @Test("Writers of one item are granted in the order in which they asked")
    func firstComeFirstServed() {
        var table = ClaimTable()
        for id in 1...5 as ClosedRange<UInt64> { _ = table.ask(id, .writing("X")) }
        for id in 1..<5 as Range<UInt64> { #expect(table.release(id).granted == [id + 1]) }
    }

    @Test("A reader that comes after a waiting writer waits behind it, so no writer starves")
    func noStarvation() {
        var table = ClaimTable()
        _ = table.ask(1, .reading("X"))
        _ = table.ask(2, .writing("X"))
        #expect(table.ask(3, .reading("X")).granted.isEmpty)
        #expect(table.release(1).granted == [2])
        #expect(table.release(2).granted == [3])
    }

    @Test("Readers behind a writer are granted together when it ends")
    func readerBatch() {
        var table = ClaimTable()
        _ = table.ask(1, .writing("X"))
        for id in 2...4 as ClosedRange<UInt64> { _ = table.ask(id, .reading("X")) }
        _ = table.ask(5, .writing("X"))
        _ = table.ask(6, .reading("X"))
        #expect(table.release(1).granted == [2, 3, 4])
        #expect(table.release(3).granted.isEmpty)
        #expect(table.release(2).granted.isEmpty)
        #expect(table.release(4).granted == [5])
        #expect(table.release(5).granted == [6])
    }

    @Test("Several items are granted together or not at all")
    func multiItem() {
        var table = ClaimTable()
        _ = table.ask(1, .writing("A"))
        _ = table.ask(2, .writing("B"))
        #expect(table.ask(3, .writing("A"), .writing("B"), .reading("C")).granted.isEmpty)
        #expect(table.ask(4, .writing("C")).granted.isEmpty, "an older waiter wants it")
        #expect(table.release(1).granted.isEmpty)
        #expect(table.release(2).granted == [3])
        #expect(table.release(3).granted == [4])
    }

    @Test("Asking twice for one item in a request is asking once, for the stronger")
    func duplicates() {
        var table = ClaimTable()
        #expect(table.ask(1, .reading("X"), .writing("X"), .writing("X", .deleting)).granted == [1])
        #expect(table.ask(2, .reading("X/below")).granted.isEmpty)
        #expect(table.release(1).granted == [2])
    }

    @Test("A tree write waits for everything below that was asked for before it, and holds up what comes later")
    func treeWrite() {
        var table = ClaimTable()
        for id in 1...3 as ClosedRange<UInt64> { _ = table.ask(id, .writing(item("X/\(id)"))) }
        #expect(table.ask(9, .writing("X", .deleting)).granted.isEmpty)
        #expect(table.ask(10, .reading("X/2/deep")).granted.isEmpty)
        #expect(table.release(2).granted.isEmpty)
        #expect(table.release(3).granted.isEmpty)
        #expect(table.release(1).granted == [9])
        #expect(table.release(9).granted == [10])
    }

    @Test("Cancelling a waiter ends it and lets those behind it go on")
    func cancel() {
        var table = ClaimTable()
        _ = table.ask(1, .reading("X"))
        _ = table.ask(2, .writing("X"))
        _ = table.ask(3, .reading("X"))
        let actions = table.cancel(2)
        #expect(actions.failed == [2] && actions.codes == [.cancelled] && actions.granted == [3])
        #expect(table.cancel(1).isEmpty, "a holder is not cancelled")
        #expect(table.holds(1))
    }

    @Test("Releasing twice, and releasing a waiter, does nothing")
    func releaseTwice() {
        var table = ClaimTable()
        _ = table.ask(1, .writing("X"))
        _ = table.ask(2, .writing("X"))
        #expect(table.release(2).isEmpty && table.waits(2))
        #expect(table.release(1).granted == [2])
        #expect(table.release(1).isEmpty)
    }

    @Test("A deadline ends the waiter at its time, not before, and lets those behind it go on")
    func expiry() {
        var table = ClaimTable()
        _ = table.ask(1, .reading("X"))
        _ = table.ask(2, .writing("X"), deadline: .seconds(10))
        _ = table.ask(3, .reading("X"), deadline: .seconds(5))
        #expect(table.expire(now: .milliseconds(4_999)).isEmpty)
        let first = table.expire(now: .seconds(5))
        #expect(first.failed == [3] && first.codes == [.deadline])
        _ = table.ask(4, .reading("X"), deadline: .seconds(11))
        let second = table.expire(now: .seconds(10))
        #expect(second.failed == [2] && second.granted == [4])
        #expect(table.expire(now: .seconds(60)).isEmpty, "a holder has no deadline")
    }

    @Test("A client that is gone leaves neither claims nor waiters")
    func clientGone() {
        var table = ClaimTable()
        _ = table.ask(1, .writing("X"), client: 7)
        _ = table.ask(2, .writing("X"), client: 7)
        _ = table.ask(3, .writing("X"), client: 8)
        let actions = table.removed(client: ClientID(7))
        #expect(actions.failed == [2] && actions.granted == [3])
        #expect(table.removed(client: ClientID(7)).isEmpty)
        #expect(table.holds(3) && table.accesses(of: ClaimID(1)) == nil)
    }

    @Test("A trial leaves nothing behind where it would have to wait")
    func trial() {
        var table = ClaimTable()
        _ = table.ask(1, .reading("X"))
        let write = ClaimRequest(id: ClaimID(2), accesses: [.writing("X")], purpose: Purpose("two"))
        #expect(table.tryRequest(write) == nil)
        #expect(table.ask(3, .reading("X")).granted == [3])
        _ = table.release(1)
        _ = table.release(3)
        #expect(table.tryRequest(write) == .grant(ClaimID(2), write.accesses))
    }

    @Test("Requests that make no sense are refused with the reason")
    func invalid() {
        var table = ClaimTable()
        func codes(_ accesses: [Access], purpose: String = "p", id: UInt64 = 1) -> [CoordinationError.Code] {
            table.request(ClaimRequest(id: ClaimID(id), accesses: accesses, purpose: Purpose(purpose))).codes
        }
        #expect(codes([]) == [.invalid(reason: "a claim needs at least one item")])
        #expect(codes([.reading("X")], purpose: "") == [.invalid(reason: "a purpose identifier is not empty")])
        #expect(codes([.reading("X", packageRoot: "P")]) == [.invalid(reason: "X is not inside the package P")])
        #expect(codes([.reading("X")]).isEmpty)
        #expect(codes([.reading("X")]) == [.invalid(reason: "#1 is in use")])
    }

    @Test("100,000 waiters are entered and resolved in about linear time", arguments: [false, true])
    func manyWaiters(onePurpose: Bool) {
        // Twice the waiters must not take four times as long; timing is left to the test's own limit.
        let count: UInt64 = 100_000
        var table = ClaimTable()
        _ = table.ask(0, .writing("X/Y"), purpose: "holder")
        for id in 1...count {
            let purpose = onePurpose ? "quire.mount" : "purpose \(id)"
            let option: WritingOption = id % 3 == 1 ? .inPlace : .deleting
            let access: Access = id.isMultiple(of: 3) ? .reading("X/Y") : .writing("X/Y", option)
            _ = table.ask(id, access, purpose: purpose)
        }
        var granted = table.release(0).granted
        var next = 0
        while next < granted.count {
            granted += table.release(granted[next]).granted
            next += 1
        }
        #expect(granted == Array(1...count))
        #expect(table.isEmpty)
    }
}
