@testable import QuireSync
import Testing

@Suite struct ReadAheadTests {
    let block = ReadAhead.block

    @Test("A reader that jumps about has the blocks brought that it touches, and no more")
    func random() {
        var ahead = ReadAhead()
        let size = 100 * block
        #expect(ahead.note(50 * block + 10..<50 * block + 20, size: size) == 50 * block..<51 * block)
        #expect(ahead.note(7 * block - 1..<7 * block + 1, size: size) == 6 * block..<8 * block)
        #expect(ahead.note(size - 5..<size, size: size) == 99 * block..<size)
        #expect(ahead.note(90 * block..<90 * block + 5, size: size) == 90 * block..<91 * block)
    }

    @Test("For a reader that goes on, twice as much is on its way with each block, up to a limit and the end")
    func sequential() {
        var ahead = ReadAhead()
        let size = 1000 * block
        var ends: [Int64] = []
        for index in 0..<40 * 32 {
            let start = Int64(index) * block / 32
            ends.append(ahead.note(start..<start + block / 32, size: size).upperBound - start)
        }
        #expect(ends[0] == block)
        #expect(ends.max() ?? 0 <= ReadAhead.longest + ReadAhead.stride)
        #expect(ends.last ?? 0 >= ReadAhead.longest)
        var near = ReadAhead()
        #expect(near.note(0..<10, size: 10) == 0..<10)
    }

    @Test("What the kernel asks for a little out of order is one reading")
    func shuffled() {
        var (ahead, furthest) = (ReadAhead(), Int64(0))
        let size = 1000 * block
        for start in stride(from: Int64(0), to: 20 * block, by: 262_144) {
            for part in [start + 131_072..<start + 262_144, start..<start + 131_072] {
                furthest = max(furthest, ahead.note(part, size: size).upperBound)
            }
        }
        #expect(furthest >= 20 * block + ReadAhead.longest)
    }
}
