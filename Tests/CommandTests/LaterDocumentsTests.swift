import QuireCore
import QuireIndex
import Testing

@testable import QuireMain

@Suite("Documents that are read later")
struct LaterDocumentsTests {
    private func documents(_ ids: ClosedRange<Int64>, generation: Int64 = 1) -> [ContentDocument] {
        ids.map {
            ContentDocument(
                id: ItemID($0), path: "a", type: .text, size: ByteCount(1), mtime: .unknown, generation: generation,
                typeID: 1)
        }
    }

    private static let long = Duration.seconds(100_000)

    @Test("A few are tried at a time, each in its turn, after pauses that grow until one can be read")
    func turns() {
        let later = LaterDocuments()
        let all = documents(1...5)
        later.note(all, left: all, now: .zero)
        // Told again while they wait, they are not tried the less.
        later.note(all, left: all, now: .zero)
        #expect(later.pause == .seconds(1))
        #expect(later.take(2, now: Self.long) == documents(1...2) && later.pause == .seconds(2))
        later.note(documents(1...2), left: documents(1...2), now: .zero)
        #expect(later.take(3, now: Self.long) == documents(3...5) && later.pause == .seconds(4))
        // Of others, while some wait, nothing is learnt.
        later.note(documents(6...7), left: [], now: .zero)
        #expect(later.pause == .seconds(4))
        later.note(documents(3...5), left: documents(4...5), now: .zero)
        #expect(later.pause == .seconds(1))
        #expect(later.take(9, now: Self.long).map(\.id.rawValue) == [1, 2, 4, 5])
        for _ in 0..<9 {
            later.note(documents(1...1), left: documents(1...1), now: .zero)
            _ = later.take(1, now: Self.long)
        }
        #expect(later.pause == .seconds(60) && later.take(1, now: Self.long).isEmpty)
        later.note(documents(9...9), left: [], now: .zero)
        #expect(later.pause == .seconds(60))
        // What fails for the first time, with nothing that waits.
        later.note(documents(8...8), left: documents(8...8), now: .zero)
        #expect(later.pause == .seconds(1))
    }

    @Test("One that can never be read is tried ever more seldom, once an hour in the end, until it is another")
    func rests() {
        let later = LaterDocuments()
        var now = Duration.zero
        var rests: [Int64] = []
        for _ in 0..<15 {
            later.note(documents(1...1), left: documents(1...1), now: now)
            let begin = now
            while later.take(9, now: now).isEmpty { now += .seconds(1) }
            rests.append((now - begin).components.seconds)
        }
        #expect(rests == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3600, 3600, 3600])
        later.note(documents(1...1), left: documents(1...1, generation: 2), now: now)
        #expect(later.take(9, now: now + .seconds(1)) == documents(1...1, generation: 2))
    }

    @Test("It comes behind those that were tried less, and keeps none of them waiting")
    func order() {
        let later = LaterDocuments()
        for _ in 0..<9 {
            later.note(documents(1...3), left: documents(1...3), now: .zero)
            #expect(later.take(9, now: Self.long).count == 3)
        }
        later.note(documents(1...3), left: documents(1...3), now: .zero)
        #expect(later.pause == .seconds(60))
        later.note(documents(4...4), left: documents(4...4), now: Self.long)
        #expect(later.pause == .seconds(1))
        #expect(later.take(1, now: Self.long + .seconds(1)) == documents(4...4))
        // Read otherwise meanwhile, it is not tried for nothing.
        later.note(documents(2...2), left: [], now: Self.long)
        #expect(later.take(9, now: Self.long).map(\.id.rawValue) == [1, 3])
    }

    @Test("Whoever hands them back is told as long as some wait")
    func signals() async {
        let later = LaterDocuments()
        later.note(documents(1...3), left: documents(1...3), now: .zero)
        var taken: [ContentDocument] = []
        for await _ in later.signals {
            taken += later.take(2, now: Self.long)
            if taken.count == 3 { break }
        }
        #expect(taken == documents(1...3))
    }
}
