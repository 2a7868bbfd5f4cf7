import GRDB

/// The tables of `index.sqlite`, and how they came to be.
///
/// ```
/// items   one row a directory entry; keyed by item id, with a parent id: renaming a directory is one row
/// bases   what the provider acknowledged, with parent links of its own; an item is linked to at most one
///         orphan = linked by nobody: deleted here, deletion to be uploaded; other states are those of `OrphanState`
///         removal = a `RemovalState`: being removed here, as the provider has nothing of it
/// types   identifiers of content types, by the numbers that items have
/// parked  errors, by item, or by container and base path
/// item_names, name_queue   for finding by a part of a name: `NameSearch`
/// uploads those that were begun and not acknowledged
/// meta    counters, cursors, flags
/// ```
/// Times are nanoseconds since 1970. Names are blobs. `pending` is a `LocalDifference`, derived from the other columns
/// in the same transaction. A row with parent `limbo` exists only while a rescan reorders entries.
enum Schema {
    /// The parent of the drive's root.
    static let noParent: Int64 = 0
    /// The parent of rows whose place was taken by another before theirs was found.
    static let limbo: Int64 = -1

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { db in
            try db.execute(
                sql: """
                    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
                    CREATE TABLE bases (
                        id INTEGER PRIMARY KEY AUTOINCREMENT,
                        container TEXT NOT NULL, parent INTEGER NOT NULL, name BLOB NOT NULL,
                        kind INTEGER NOT NULL, version TEXT NOT NULL, size INTEGER NOT NULL, mtime INTEGER NOT NULL,
                        mode INTEGER, identifier TEXT, checksum BLOB, symlink_target BLOB,
                        orphan INTEGER NOT NULL, since INTEGER NOT NULL,
                        UNIQUE (container, parent, name));
                    CREATE INDEX bases_parent ON bases (parent);
                    CREATE INDEX bases_orphan ON bases (container) WHERE orphan = 1;
                    CREATE TABLE items (
                        id INTEGER PRIMARY KEY,
                        parent INTEGER NOT NULL, name BLOB NOT NULL,
                        kind INTEGER NOT NULL, inode INTEGER NOT NULL, size INTEGER NOT NULL, mtime INTEGER NOT NULL,
                        ctime INTEGER NOT NULL, mode INTEGER NOT NULL, nlink INTEGER NOT NULL,
                        container TEXT NOT NULL, role INTEGER NOT NULL,
                        dataless INTEGER NOT NULL, local_only INTEGER NOT NULL, writers INTEGER NOT NULL,
                        base INTEGER UNIQUE REFERENCES bases (id),
                        ack_inode INTEGER, ack_size INTEGER, ack_mtime INTEGER, ack_ctime INTEGER,
                        pinned INTEGER NOT NULL DEFAULT 0, tags TEXT NOT NULL DEFAULT '',
                        since INTEGER NOT NULL, pending INTEGER NOT NULL, conflict_of BLOB,
                        UNIQUE (parent, name));
                    CREATE INDEX items_inode ON items (inode);
                    CREATE INDEX items_pending ON items (container, pending) WHERE pending <> 0;
                    CREATE INDEX items_conflict ON items (parent, conflict_of) WHERE conflict_of IS NOT NULL;
                    CREATE INDEX items_dataless ON items (id) WHERE dataless = 1;
                    CREATE INDEX items_role ON items (container) WHERE role <> 0;
                    CREATE TABLE parked (
                        item INTEGER NOT NULL, container TEXT NOT NULL, path BLOB NOT NULL,
                        message TEXT NOT NULL, code TEXT NOT NULL, since INTEGER NOT NULL,
                        PRIMARY KEY (item, container, path)) WITHOUT ROWID;
                    """)
        }
        // Start finds the rows that an earlier daemon left marked as open for writing: pending ones and these.
        migrator.registerMigration("2") { db in
            try db.execute(sql: "CREATE INDEX items_local ON items (id) WHERE local_only = 1")
        }
        // What is pending is read in the order of its last change, a page at a time; the rest of a key is for covering.
        migrator.registerMigration("3") { db in
            try db.execute(
                sql: """
                    DROP INDEX items_pending;
                    CREATE INDEX items_due ON items (container, since, id, pending) WHERE pending <> 0;
                    DROP INDEX bases_orphan;
                    CREATE INDEX bases_due ON bases (container, since, id DESC) WHERE orphan = 1;
                    """)
        }
        migrator.registerMigration("4") { db in
            try db.execute(
                sql: """
                    CREATE TABLE uploads (
                        id INTEGER PRIMARY KEY AUTOINCREMENT,
                        item INTEGER NOT NULL, container TEXT NOT NULL, path BLOB NOT NULL,
                        kind INTEGER NOT NULL, size INTEGER NOT NULL, checksum BLOB NOT NULL,
                        inode INTEGER NOT NULL, bytes INTEGER NOT NULL, mtime INTEGER NOT NULL, ctime INTEGER NOT NULL,
                        since INTEGER NOT NULL);
                    CREATE INDEX uploads_item ON uploads (item);
                    """)
        }
        // What content is, by name or by content: ids of `types`, or a `TypeCode`; 0 until `typeAll` has derived it.
        migrator.registerMigration("types") { db in
            try db.execute(
                sql: """
                    CREATE TABLE types (id INTEGER PRIMARY KEY, identifier TEXT NOT NULL UNIQUE);
                    ALTER TABLE items ADD COLUMN type INTEGER NOT NULL DEFAULT 0;
                    CREATE INDEX items_type ON items (type);
                    """)
        }
        // For queries.
        migrator.registerMigration("5") { db in
            try db.execute(
                sql: """
                    CREATE INDEX items_name ON items (name);
                    CREATE INDEX items_size ON items (size);
                    CREATE INDEX items_mtime ON items (mtime);
                    CREATE INDEX items_tagged ON items (id) WHERE tags <> '';
                    """)
            try db.execute(sql: NameSearch.schema)
        }
        // What was never noted is taken from what was.
        migrator.registerMigration("times") { db in
            try db.execute(
                sql: """
                    ALTER TABLE items ADD COLUMN created INTEGER NOT NULL DEFAULT 0;
                    ALTER TABLE items ADD COLUMN added INTEGER NOT NULL DEFAULT 0;
                    ALTER TABLE items ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;
                    UPDATE items SET created = min(mtime, since), added = since, generation = max(1, since);
                    """)
        }
        // What is pinned and not here is to be brought; hardly ever more than a few rows.
        migrator.registerMigration("pinned") { db in
            try db.execute(
                sql: "CREATE INDEX items_wanted ON items (id) WHERE pinned = 1 AND dataless = 1 AND kind = 0")
        }
        // Of providers that keep tags; null where they have told none.
        migrator.registerMigration("tags") { db in
            try db.execute(sql: "ALTER TABLE bases ADD COLUMN tags TEXT")
        }
        // What is kept on this device only and not here is to be brought, too, where its place is taken.
        migrator.registerMigration("backups") { db in
            try db.execute(
                sql: "CREATE INDEX items_backups ON items (id) WHERE local_only = 1 AND dataless = 1 AND kind = 0")
        }
        // What a pull is about to remove here (`RemovalState`).
        migrator.registerMigration("removals") { db in
            try db.execute(
                sql: """
                    ALTER TABLE bases ADD COLUMN removal INTEGER NOT NULL DEFAULT 0;
                    CREATE INDEX bases_removal ON bases (container) WHERE removal <> 0;
                    """)
        }
        // What had gone and is back is pinned and tagged as it was; null where its row had nothing to leave.
        migrator.registerMigration("left") { db in
            try db.execute(
                sql: """
                    ALTER TABLE bases ADD COLUMN left_pinned INTEGER NOT NULL DEFAULT 0;
                    ALTER TABLE bases ADD COLUMN left_tags TEXT;
                    """)
        }
        migrator.registerMigration("held") { db in
            try db.execute(sql: "CREATE INDEX bases_held ON bases (orphan) WHERE orphan <> 0")
        }
        return migrator
    }
}

extension Database {
    /// A value of the `meta` table.
    func meta(_ key: String) throws -> String? {
        try first("SELECT value FROM meta WHERE key = ?", .text(key)) { $0.text(0) }
    }

    /// Sets or, with nil, removes a value of the `meta` table.
    func setMeta(_ key: String, _ value: String?) throws {
        if let value {
            try run("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", .text(key), .text(value))
        } else {
            try run("DELETE FROM meta WHERE key = ?", .text(key))
        }
    }
}

/// Keys of the `meta` table that are the index's own; callers' keys are prefixed with `user.`.
enum MetaKey {
    /// Upper half of item ids.
    static let epoch = "epoch"
    /// Lower half of the next item id.
    static let nextID = "next_id"
    /// The container layout and ephemeral patterns that rows were placed by.
    static let layout = "layout"
    /// By what types were derived.
    static let types = "types"
    /// How many items were missing when a rescan held deletions back.
    static let heldDeletes = "deletes_held"
    /// A base may be `OrphanState.needed`.
    static let neededBases = "bases_needed"
    /// The store has nothing of what rows name, and was not compared since.
    static let vanished = "vanished"
    /// The file system that the store was on when it was last met, by the system's word for it.
    static let filesystem = "filesystem"
    /// The store is another directory, or on another file system, than rows say, and was not compared since: inodes that
    /// rows name may be any other entries'.
    static let renumbered = "renumbered"
}
