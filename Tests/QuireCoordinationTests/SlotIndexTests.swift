import Testing

@testable import QuireCoordination

@Suite("Slot index")
struct SlotIndexTests {
    @Test("It finds what a dictionary finds, also where hashes are alike", arguments: [4, 8, 32])
    func random(bits: UInt32) {
        var random = SeededGenerator(seed: UInt64(bits))
        var index = SlotIndex()
        var keys: [UInt64] = Array(repeating: 0, count: 200)
        var known: [UInt64: Int32] = [:]
        let hash = { (key: UInt64) in SlotIndex.hash(key) & UInt32.max >> (32 - bits) }
        for _ in 0..<20_000 {
            let key = UInt64.random(in: 0..<300, using: &random)
            #expect(index.find(hash(key)) { keys[Int($0)] == key } == known[key])
            if let slot = known.removeValue(forKey: key) {
                index.remove(hash(key), slot)
            } else if let slot = (0..<Int32(200)).first(where: { !known.values.contains($0) }) {
                keys[Int(slot)] = key
                index.insert(hash(key), slot)
                known[key] = slot
            }
            #expect(index.count == known.count)
        }
        for (key, slot) in known { index.remove(hash(key), slot) }
        #expect(index.isEmpty)
    }
}
