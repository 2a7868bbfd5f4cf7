/// Finds records by their keys, where the records know their keys: eight bytes a place, and nothing of the key itself.
///
/// Of 100,000 that wait, one that is looked up is seldom in a cache of the processor; so how much there is counts more than
/// anything. Open addressing with linear probing; a place is free or has 32 bits of a key's hash and a record's number.
struct SlotIndex {
    /// The hash above, the record's number plus one below; 0 where it is free.
    private var places: [UInt64] = []
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// A hash of a number. Eight that follow one another are together, in a line of a cache, as they are asked for one after
    /// the other; apart from the next eight, so that no long stretch of places is taken.
    static func hash(_ number: UInt64) -> UInt32 {
        // The mixing of SplitMix64.
        var word = number >> 3
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        word ^= word >> 31
        return UInt32(truncatingIfNeeded: word << 3 | number & 7)
    }

    /// The record with this key.
    ///
    /// - Parameter isIt: whether the record of a number has the key.
    func find(_ hash: UInt32, where isIt: (Int32) -> Bool) -> Int32? {
        place(of: hash, where: isIt).map { Self.slot(places[$0]) }
    }

    /// Enters a record whose key is not here.
    mutating func insert(_ hash: UInt32, _ slot: Int32) {
        if 2 * (count + 1) > places.count { grow() }
        put(UInt64(hash) << 32 | UInt64(UInt32(bitPattern: slot) + 1))
        count += 1
    }

    /// Takes a record out that is here.
    mutating func remove(_ hash: UInt32, _ slot: Int32) {
        guard var free = place(of: hash, where: { $0 == slot }) else { return }
        count -= 1
        // Those behind it that are not in their first places close the gap.
        var next = free
        while true {
            next = (next + 1) & (places.count - 1)
            let word = places[next]
            if word == 0 { break }
            let home = first(Self.hash(of: word))
            if (next - home) & (places.count - 1) >= (next - free) & (places.count - 1) {
                places[free] = word
                free = next
            }
        }
        places[free] = 0
    }

    private func place(of hash: UInt32, where isIt: (Int32) -> Bool) -> Int? {
        guard count > 0 else { return nil }
        var index = first(hash)
        while places[index] != 0 {
            if Self.hash(of: places[index]) == hash, isIt(Self.slot(places[index])) { return index }
            index = (index + 1) & (places.count - 1)
        }
        return nil
    }

    private mutating func put(_ word: UInt64) {
        var index = first(Self.hash(of: word))
        while places[index] != 0 { index = (index + 1) & (places.count - 1) }
        places[index] = word
    }

    private mutating func grow() {
        let old = places
        places = Array(repeating: 0, count: max(16, 2 * old.count))
        for word in old where word != 0 { put(word) }
    }

    private func first(_ hash: UInt32) -> Int { Int(hash) & (places.count - 1) }

    private static func hash(of word: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: word >> 32) }

    private static func slot(_ word: UInt64) -> Int32 { Int32(bitPattern: UInt32(truncatingIfNeeded: word) &- 1) }
}
