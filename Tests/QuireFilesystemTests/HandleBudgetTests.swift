import Glibc
import QuireCore
import Testing

@testable import QuireFilesystem

@Suite("Handle budget")
struct HandleBudgetTests {
    @Test("Handles end before the descriptors do", arguments: [256, 1024, 20_000, 1 << 20])
    func limits(descriptors: Int) {
        let cache = min(descriptors / 4, 4096)
        let budget = HandleBudget(descriptors: descriptors, cache: cache)
        #expect(budget.limit + cache + 47 + Listings.limit < descriptors)
        #expect(budget.limit >= descriptors / 3, "most are for programs")
    }

    @Test("Past the limit ENFILE is the answer, until a handle is given back")
    func admission() throws {
        let budget = HandleBudget(descriptors: 1024, cache: 256)
        for _ in 0..<budget.limit {
            try budget.admit()
            budget.take()
        }
        #expect(code { () throws(DriverError) in try budget.admit() } == ENFILE)
        budget.giveBack()
        #expect(code { () throws(DriverError) in try budget.admit() } == nil)
    }

    @Test("Who waits for a handle gets the one that is given back", .timeLimit(.minutes(1)))
    func waiting() async {
        let budget = HandleBudget(descriptors: 256, cache: 64)
        for _ in 0..<budget.limit { budget.take() }
        #expect(budget.isWorthWaiting)
        await withCheckedContinuation { continuation in
            let thread = OwnedThread(name: "test-waiter") {
                budget.waitForOne()
                continuation.resume()
            }
            precondition(thread != nil, "no thread can be started")
            budget.giveBack()
        }
        #expect(code { () throws(DriverError) in try budget.admit() } == nil)
    }

    @Test("Where nobody gives one back, nobody waits any more until somebody does", .timeLimit(.minutes(1)))
    func waitingInVain() {
        let budget = HandleBudget(descriptors: 256, cache: 64)
        for _ in 0..<budget.limit { budget.take() }
        budget.waitForOne()
        #expect(!budget.isWorthWaiting)
        budget.giveBack()
        budget.take()
        #expect(budget.isWorthWaiting)
    }

    @Test("A handle on a document that arrives counts for all descriptors that it may take")
    func arriving() throws {
        let store = try TestStore()
        try store.write("a", "none")
        try store.write("content", "here")
        let node = try store.lookUp("a")
        let table = store.driver.table
        let before = left(table.handles)
        let file = try store.openArriving(node, in: "content")
        // The placeholder, the bytes that have come, and the document in their place.
        #expect(before - left(table.handles) == 3)
        table.locked { table.leave(file, &$0) }
        #expect(left(table.handles) == before)
    }

    /// How many handles may still be opened.
    private func left(_ budget: HandleBudget) -> Int {
        var count = 0
        while code({ () throws(DriverError) in try budget.admit() }) == nil {
            budget.take()
            count += 1
        }
        for _ in 0..<count { budget.giveBack() }
        return count
    }

    private func code(_ body: () throws(DriverError) -> Void) -> CInt? {
        do throws(DriverError) {
            try body()
            return nil
        } catch {
            return error.errno
        }
    }
}
