/// How often trigrams are in names, as a sample of those tells.
struct TrigramFrequencies: Sendable {
    /// Nothing is known: all are alike.
    static let unknown = TrigramFrequencies(names: [])

    private struct Place {
        var trigram: Trigram
        var position: Int
    }

    private var counts: [Trigram: Int] = [:]
    private let names: Int

    /// - Parameter names: folded, as `NameSearch` keeps them.
    init(names: [[UInt8]]) {
        self.names = names.count
        for name in names {
            for trigram in Set(Trigram.all(in: name)) { counts[trigram, default: 0] += 1 }
        }
    }

    /// Two trigrams of the runs which few names have both of; one where there is no other. Of those alike, the first.
    ///
    /// The rarest, and the rarest of those that share no byte with it: one that does says little more. Where those are common,
    /// and so take long to look up, the next rarest of all.
    /// - Parameter runs: texts that are to be in a name.
    func rarePair(of runs: [[UInt8]]) -> [Trigram] {
        let places = Self.places(in: runs)
        guard let first = rarest(places) else { return [] }
        let others = places.filter { $0.trigram != first.trigram }
        let apart = rarest(others.filter { abs($0.position - first.position) >= 3 })
        let second = apart.flatMap { count($0) * Self.commonShare > names ? nil : $0 } ?? rarest(others)
        return [first.trigram] + (second.map { [$0.trigram] } ?? [])
    }

    /// What more than one name in so many has is common.
    private static let commonShare = 64
    /// A pattern as long as a message must not take long.
    private static let mostCompared = 64

    private static func places(in runs: [[UInt8]]) -> [Place] {
        var places: [Place] = []
        var start = 0
        for run in runs where places.count < mostCompared {
            for (offset, trigram) in Trigram.all(in: run).enumerated() {
                places.append(Place(trigram: trigram, position: start + offset))
            }
            start += run.count
        }
        return Array(places.prefix(mostCompared))
    }

    private func count(_ place: Place) -> Int { counts[place.trigram] ?? 0 }

    private func rarest(_ places: [Place]) -> Place? { places.min { count($0) < count($1) } }
}
