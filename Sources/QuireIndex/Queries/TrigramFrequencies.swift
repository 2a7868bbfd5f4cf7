/// How often trigrams are in names, as a sample of those tells.
struct TrigramFrequencies: Sendable {
    /// Nothing is known: all are alike.
    static let unknown = TrigramFrequencies(names: [])

    private var counts: [Trigram: Int] = [:]

    /// - Parameter names: folded, as `NameSearch` keeps them.
    init(names: [[UInt8]]) {
        for name in names {
            for trigram in Set(Trigram.all(in: name)) { counts[trigram, default: 0] += 1 }
        }
    }

    /// The trigrams of the runs that are in the fewest names; of those alike, the first.
    ///
    /// - Parameter runs: texts that are to be in a name, each of three bytes at least.
    func rarest(_ count: Int, of runs: [[UInt8]]) -> [Trigram] {
        var trigrams: [Trigram] = []
        for run in runs {
            for trigram in Trigram.all(in: run) where !trigrams.contains(trigram) {
                trigrams.append(trigram)
                // A pattern as long as a message must not take long here.
                if trigrams.count == Self.mostCompared { return pick(count, of: trigrams) }
            }
        }
        return pick(count, of: trigrams)
    }

    private static let mostCompared = 64

    private func pick(_ count: Int, of trigrams: [Trigram]) -> [Trigram] {
        let ranked = trigrams.enumerated().sorted { one, other in
            let (left, right) = (counts[one.element] ?? 0, counts[other.element] ?? 0)
            return left == right ? one.offset < other.offset : left < right
        }
        return ranked.prefix(count).map(\.element)
    }
}
