import QuireCore
import QuireIndex
import Testing

@testable import QuireMain

@Suite("Documents that are read later")
struct LaterDocumentsTests {
    private func documents(_ ids: ClosedRange<Int64>) -> [ContentDocument] {
        ids.map {
            ContentDocument(
                id: ItemID($0), path: "a", type: .text, size: ByteCount(1), mtime: .unknown, generation: 1, typeID: 1)
        }
    }

    @Test("A few are tried at a time, each in its turn, after pauses that grow until one can be read")
    func turns() {
        let later = LaterDocuments()
        let all = documents(1...5)
        later.note(all, left: all)
        later.note(all, left: documents(2...3))
        #expect(later.pause == .seconds(1))
        #expect(later.take(2) == documents(1...2) && later.pause == .seconds(2))
        later.note(documents(1...2), left: documents(1...2))
        #expect(later.take(3) == documents(3...5) && later.pause == .seconds(4))
        // Of others, while some wait, nothing is learnt.
        later.note(documents(6...7), left: [])
        #expect(later.pause == .seconds(4))
        later.note(documents(3...5), left: documents(4...5))
        #expect(later.pause == .seconds(1))
        #expect(later.take(9).map(\.id.rawValue) == [1, 2, 4, 5])
        for _ in 0..<9 {
            later.note(documents(1...1), left: documents(1...1))
            _ = later.take(1)
        }
        #expect(later.pause == .seconds(60) && later.take(1).isEmpty)
        later.note(documents(9...9), left: [])
        #expect(later.pause == .seconds(60))
        // What fails for the first time, with nothing that waits.
        later.note(documents(8...8), left: documents(8...8))
        #expect(later.pause == .seconds(1))
    }

    @Test("Whoever hands them back is told as long as some wait")
    func signals() async {
        let later = LaterDocuments()
        later.note(documents(1...3), left: documents(1...3))
        var taken: [ContentDocument] = []
        for await _ in later.signals {
            taken += later.take(2)
            if taken.count == 3 { break }
        }
        #expect(taken == documents(1...3))
    }
}
