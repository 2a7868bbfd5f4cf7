import GRDB
import QuireCore

/// Finds items by a part of their name: the table `item_names`, an FTS5 index of trigrams (sqlite.org/fts5.html).
///
/// It follows `items` at a distance, when nothing else is to be done: triggers note in `name_queue` whose name is not in it, or
/// is another there, and a search looks at those one by one. It keeps no names: to remove one it is told the old.
enum NameSearch {
    /// Ids of what may have the runs in its name; one value: `match`.
    static let candidates = """
        SELECT rowid FROM item_names WHERE item_names MATCH ? UNION ALL SELECT id FROM name_queue
        """

    static let schema = """
        CREATE VIRTUAL TABLE item_names USING fts5 (name, tokenize = 'trigram', content = '', detail = none, columnsize = 0);
        CREATE TABLE name_queue (id INTEGER PRIMARY KEY, old BLOB);
        INSERT INTO name_queue (id) SELECT id FROM items;
        CREATE TRIGGER items_named AFTER INSERT ON items BEGIN
            INSERT INTO name_queue (id, old) VALUES (new.id, NULL) ON CONFLICT (id) DO NOTHING;
        END;
        CREATE TRIGGER items_renamed AFTER UPDATE OF name ON items WHEN old.name <> new.name BEGIN
            INSERT INTO name_queue (id, old) VALUES (new.id, old.name) ON CONFLICT (id) DO NOTHING;
        END;
        CREATE TRIGGER items_unnamed AFTER DELETE ON items BEGIN
            INSERT INTO name_queue (id, old) VALUES (old.id, old.name) ON CONFLICT (id) DO NOTHING;
        END;
        """

    /// What `MATCH` is to find: two rare trigrams of the runs. To look up more takes longer than to rule out by their names
    /// what those two find.
    static func match(_ runs: [[UInt8]], _ frequencies: TrigramFrequencies) -> String {
        frequencies.rarePair(of: runs).map(\.quoted).joined(separator: " AND ")
    }

    /// Brings the table up to date with the next names of the queue.
    ///
    /// - Returns: whether more wait.
    static func update(_ db: Database, limit: Int) throws -> Bool {
        let due = try db.all(
            "SELECT q.id, q.old, i.name FROM name_queue q LEFT JOIN items i ON i.id = q.id LIMIT ?",
            .integer(Int64(limit))
        ) { ($0.integer(0), $0.optionalBlob(1), $0.optionalBlob(2)) }
        for (id, old, name) in due {
            if let old {
                try db.run(
                    "INSERT INTO item_names (item_names, rowid, name) VALUES ('delete', ?, ?)", .integer(id),
                    .text(folded(old)))
            }
            if let name {
                try db.run("INSERT INTO item_names (rowid, name) VALUES (?, ?)", .integer(id), .text(folded(name)))
            }
            try db.run("DELETE FROM name_queue WHERE id = ?", .integer(id))
        }
        return due.count == limit
    }

    /// Without case and marks, so that any kind of pattern can be looked for.
    private static func folded(_ name: [UInt8]) -> String {
        String(decoding: TextFolding.all.folded(name), as: UTF8.self)
    }
}
