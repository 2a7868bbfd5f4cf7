import GRDB
import QuireCore
import Synchronization

/// Knows how often trigrams are in the names of one index: by a sample, taken when it is first asked and again when there are
/// twice as many items.
final class TrigramSample: Sendable {
    private struct State {
        var frequencies = TrigramFrequencies.unknown
        var greatestID: Int64 = 0
    }

    // Taken alone.
    private let state = Lock(State())

    /// Names that are looked at, and in how many places: a place costs more than a name.
    private static let (names, places) = (2048, 128)

    /// How often trigrams are in names now. Takes a millisecond or two when the sample is taken, and microseconds otherwise.
    func frequencies(_ db: Database) throws -> TrigramFrequencies {
        let greatest = try db.first("SELECT max(id) FROM items", read: { $0.integer(0) }) ?? 0
        let known = state.withLock {
            $0.greatestID > 0 && greatest - $0.greatestID < Self.number($0.greatestID) ? $0.frequencies : nil
        }
        if let known { return known }
        let frequencies = TrigramFrequencies(names: try Self.sample(upTo: greatest, db))
        state.withLock { $0 = State(frequencies: frequencies, greatestID: greatest) }
        return frequencies
    }

    /// Ids count in their lower half, from a beginning of each index's own (`ItemID`).
    private static func number(_ id: Int64) -> Int64 { id & 0xFFFF_FFFF }

    private static func sample(upTo greatest: Int64, _ db: Database) throws -> [[UInt8]] {
        guard greatest > 0 else { return [] }
        let first = greatest - number(greatest)
        var sample: [[UInt8]] = []
        for _ in 0..<places {
            sample += try db.all(
                "SELECT name FROM items WHERE id >= ? LIMIT ?", .integer(Int64.random(in: first...greatest)),
                .integer(Int64(names / places))
            ) { TextFolding.all.folded($0.blob(0)) }
        }
        return sample
    }
}
