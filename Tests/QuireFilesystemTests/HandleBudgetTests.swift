import Glibc
import Testing

@testable import QuireFilesystem

@Suite("Handle budget")
struct HandleBudgetTests {
    @Test("Files end before directories, and both before the descriptors do", arguments: [256, 1024, 20_000, 1 << 20])
    func limits(descriptors: Int) {
        let cache = min(descriptors / 4, 4096)
        let budget = HandleBudget(descriptors: descriptors, cache: cache)
        #expect(budget.fileLimit < budget.directoryLimit)
        #expect(budget.directoryLimit + cache + 47 < descriptors)
        #expect(budget.fileLimit >= descriptors / 3, "most are for programs")
    }

    @Test("Past the limit ENFILE is the answer, until a handle is given back")
    func admission() throws {
        let budget = HandleBudget(descriptors: 1024, cache: 256)
        for _ in 0..<budget.fileLimit {
            try budget.admitFile()
            budget.take()
        }
        #expect(code { () throws(DriverError) in try budget.admitFile() } == ENFILE)
        for _ in budget.fileLimit..<budget.directoryLimit {
            try budget.admitDirectory()
            budget.take()
        }
        #expect(code { () throws(DriverError) in try budget.admitDirectory() } == ENFILE)
        budget.giveBack()
        #expect(code { () throws(DriverError) in try budget.admitDirectory() } == nil)
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
