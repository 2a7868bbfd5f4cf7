import GRDB
import QuireCore

/// Which items have the words that conditions ask for.
struct ContentWords {
    /// Ids of the items whose content has the words; one value: `WordPattern.match`.
    static let candidates = "SELECT rowid FROM content.words WHERE words MATCH ?"

    private let patterns: [WordPattern]
    /// The items of each pattern; nil where each item is asked for by itself.
    private let items: [Set<Int64>]?

    /// For few items: the index is asked for each.
    init(_ patterns: [WordPattern]) {
        self.patterns = patterns
        items = nil
    }

    /// For many items: the index is asked once for each pattern.
    init(all patterns: [WordPattern], _ db: Database) throws {
        self.patterns = patterns
        items = try patterns.map { pattern in
            Set(try db.all(Self.candidates, .text(pattern.match), read: { $0.integer(0) }))
        }
    }

    /// Those of the patterns that the item's words fulfil.
    func fulfilled(by id: Int64, _ db: Database) throws -> Set<WordPattern> {
        var result: Set<WordPattern> = []
        for (position, pattern) in patterns.enumerated() {
            let isFulfilled =
                try items.map { $0[position].contains(id) }
                ?? (db.first(Self.candidates + " AND rowid = ?", .text(pattern.match), .integer(id)) { _ in true }
                    ?? false)
            if isFulfilled { result.insert(pattern) }
        }
        return result
    }
}

extension QueryPredicate {
    /// All that it looks for in the content of documents, once each.
    package var wordPatterns: [WordPattern] {
        var found: Set<WordPattern> = []
        collect(&found)
        return Array(found)
    }

    private func collect(_ found: inout Set<WordPattern>) {
        switch self {
        case .all(let parts), .any(let parts): for part in parts { part.collect(&found) }
        case .not(let part): part.collect(&found)
        case .compare(_, _, .words(let pattern)): found.insert(pattern)
        case .compare, .range: break
        }
    }
}
