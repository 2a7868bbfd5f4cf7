import QuireCoordination
import QuireCore
import Testing

/// One row: two accesses, and whether either waits for the other.
struct WaitRow: Sendable, CustomTestStringConvertible {
    let name: String
    let left: Access
    let right: Access
    let waits: Bool

    var testDescription: String { "\(name): \(waits ? "wait" : "no wait")" }

    init(_ name: String, _ left: Access, _ right: Access, waits: Bool) {
        self.name = name
        self.left = left
        self.right = right
        self.waits = waits
    }

    static let plain: [WritingOption] = [.inPlace, .merging, .contentIndependentMetadataOnly]
    static let tree: [WritingOption] = [.deleting, .moving, .replacing]
    static let readings: [ReadingOptions] = [
        [], .withoutChanges, .resolvesSymbolicLink, .immediatelyAvailableMetadataOnly, .forUploading,
    ]

    static let sameItem: [WaitRow] =
        readings.map { WaitRow("read X, read X with \($0.rawValue)", .reading("X"), .reading("X", $0), waits: false) }
        + readings.flatMap { reading in
            WritingOption.allCases.map { option in
                WaitRow(
                    "read X with \(reading.rawValue), \(option) X", .reading("X", reading), .writing("X", option),
                    waits: true)
            }
        }
        + WritingOption.allCases.flatMap { left in
            WritingOption.allCases.map { right in
                WaitRow("\(left) X, \(right) X", .writing("X", left), .writing("X", right), waits: true)
            }
        }

    static let below: [Access] = [.reading("X/Y"), .writing("X/Y"), .reading("X/Y/Z"), .writing("X/Y/Z", .deleting)]

    static let child: [WaitRow] =
        below.flatMap { child in
            [WaitRow("read X, \(child.path) below it", .reading("X"), child, waits: false)]
                + plain.map { WaitRow("\($0) X, \(child.path) below it", .writing("X", $0), child, waits: false) }
                + tree.map { WaitRow("\($0) X, \(child.path) below it", .writing("X", $0), child, waits: true) }
        }

    static let package: [WaitRow] = [
        WaitRow("read P, read in P", .reading("P"), .reading("P/a", packageRoot: "P"), waits: false),
        WaitRow("two reads in P", .reading("P/a", packageRoot: "P"), .reading("P/b", packageRoot: "P"), waits: false),
        WaitRow("write P, read in P", .writing("P"), .reading("P/a", packageRoot: "P"), waits: true),
        WaitRow("read P, write in P", .reading("P"), .writing("P/a", packageRoot: "P"), waits: true),
        WaitRow(
            "write and read of others in P", .writing("P/a", packageRoot: "P"), .reading("P/b", packageRoot: "P"),
            waits: true),
        WaitRow("two writes in P", .writing("P/a", packageRoot: "P"), .writing("P/b", packageRoot: "P"), waits: true),
        WaitRow("a package in P", .writing("P/Q/a", packageRoot: "P"), .reading("P/b", packageRoot: "P"), waits: true),
        WaitRow("delete in P, read P", .writing("P/a", .deleting, packageRoot: "P"), .reading("P"), waits: true),
        WaitRow(
            "delete above P, read in P", .writing("X", .deleting), .reading("X/P/a", packageRoot: "X/P"), waits: true),
        WaitRow("write above P, write in P", .writing("X"), .writing("X/P/a", packageRoot: "X/P"), waits: false),
    ]

    static let strangers: [WaitRow] = WritingOption.allCases.flatMap { option in
        [
            WaitRow("\(option) X, write beside it", .writing("X", option), .writing("Y"), waits: false),
            WaitRow("\(option) X, a name that starts alike", .writing("X", option), .writing("X2/a"), waits: false),
            WaitRow("\(option) X/Y, write X", .writing("X/Y", option), .writing("X"), waits: false),
            WaitRow("\(option) X, the root replaced", .writing("X", option), .writing(.root, .replacing), waits: true),
        ]
    }

    static let all = sameItem + child + package + strangers
}

@Suite("Wait table")
struct WaitTableTests {
    @Test("Holder and newcomer wait as the table says, whichever comes first", arguments: WaitRow.all)
    func bothOrders(row: WaitRow) {
        for (first, second) in [(row.left, row.right), (row.right, row.left)] {
            var table = ClaimTable()
            #expect(table.ask(1, first).granted == [1])
            #expect(table.ask(2, second).granted == (row.waits ? [] : [2]))
            #expect(table.waits(2) == row.waits)
            #expect(table.release(1).granted == (row.waits ? [2] : []))
            #expect(table.release(2).isEmpty)
            #expect(table.isEmpty)
        }
    }

    @Test("A pair with one purpose never waits", arguments: WaitRow.all)
    func samePurpose(row: WaitRow) {
        var table = ClaimTable()
        #expect(table.ask(1, row.left, purpose: "p").granted == [1])
        #expect(table.ask(2, row.right, purpose: "p").granted == [2])
    }

    @Test("A waiter is in the way of newcomers as a holder is", arguments: WaitRow.all)
    func olderWaiter(row: WaitRow) {
        var table = ClaimTable()
        _ = table.ask(1, .writing("elsewhere"))
        let accesses = [row.left, Access.writing("elsewhere")]
        _ = table.request(ClaimRequest(id: ClaimID(2), accesses: accesses, purpose: Purpose("two")))
        #expect(table.waits(2))
        // The root holds everything, so the newcomer there waits for the holder, too.
        let waits = row.waits || row.right.path.isRoot
        #expect(table.ask(3, row.right).granted == (waits ? [] : [3]))
    }

    @Test("Moving a plain file is a plain write of it")
    func movingFile() {
        var table = ClaimTable()
        #expect(table.ask(1, .reading("dir/other")).granted == [1])
        #expect(table.ask(2, .writing("dir/file", .moving)).granted == [2])
        #expect(table.ask(3, .reading("dir")).granted == [3])
    }
}
