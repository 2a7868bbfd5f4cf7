import GRDB
import GRDBSQLite

/// A value bound to a statement.
enum SQLValue {
    case null
    case integer(Int64)
    case real(Double)
    case blob([UInt8])
    case text(String)

    static func optional(_ value: Int64?) -> SQLValue { value.map { .integer($0) } ?? .null }
    static func flag(_ value: Bool) -> SQLValue { .integer(value ? 1 : 0) }
}

/// The present row of a running statement; valid only inside the closure that got it.
struct SQLRow {
    fileprivate let handle: OpaquePointer

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }
    func real(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }
    func flag(_ column: Int32) -> Bool { integer(column) != 0 }

    func optionalInteger(_ column: Int32) -> Int64? {
        sqlite3_column_type(handle, column) == SQLITE_NULL ? nil : sqlite3_column_int64(handle, column)
    }

    func blob(_ column: Int32) -> [UInt8] { withBytes(column) { Array($0) } }

    func withBytes<Result>(_ column: Int32, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let count = Int(sqlite3_column_bytes(handle, column))
        return body(UnsafeRawBufferPointer(start: sqlite3_column_blob(handle, column), count: count))
    }

    func optionalBlob(_ column: Int32) -> [UInt8]? {
        sqlite3_column_type(handle, column) == SQLITE_NULL ? nil : blob(column)
    }

    func text(_ column: Int32) -> String { withBytes(column) { String(decoding: $0, as: UTF8.self) } }

    func optionalText(_ column: Int32) -> String? {
        sqlite3_column_type(handle, column) == SQLITE_NULL ? nil : text(column)
    }
}

/// Statements cached by GRDB, bound and stepped through the C API: names are blobs that need no `Data`, and the ingest
/// path saves two thirds of the time.
extension Database {
    /// Runs `body`; what it commits survives a power cut, if `isDurable`. In no transaction.
    func durably<Value>(_ isDurable: Bool, _ body: () throws -> Value) throws -> Value {
        guard isDurable else { return try body() }
        try run("PRAGMA synchronous = FULL")
        // Cannot fail on a connection that is open; if it did, more would be durable than has to be.
        defer { try? run("PRAGMA synchronous = NORMAL") }
        return try body()
    }

    /// Runs a statement that returns nothing.
    func run(_ sql: String, _ values: SQLValue...) throws { try run(sql, values) }

    /// As `run`.
    func run(_ sql: String, _ values: [SQLValue]) throws {
        let statement = try cachedStatement(sql: sql)
        defer { reset(statement) }
        try bind(values, to: statement)
        while try step(statement) {}
    }

    /// All rows, read before anything else runs.
    func all<Value>(_ sql: String, _ values: SQLValue..., read: (SQLRow) throws -> Value) throws -> [Value] {
        try all(try cachedStatement(sql: sql), values, read)
    }

    /// Calls `body` with each row as it is read; it may read other statements meanwhile.
    func forEach(_ sql: String, _ values: SQLValue..., body: (SQLRow) throws -> Void) throws {
        let statement = try cachedStatement(sql: sql)
        defer { reset(statement) }
        try bind(values, to: statement)
        while try step(statement) { try body(SQLRow(handle: statement.sqliteStatement)) }
    }

    /// As `all`. Statements that are not kept are made for this time only: the cache has no bound.
    func all<Value>(
        _ sql: String, _ values: [SQLValue], isKept: Bool, read: (SQLRow) throws -> Value
    ) throws -> [Value] {
        try all(isKept ? try cachedStatement(sql: sql) : try makeStatement(sql: sql), values, read)
    }

    private func all<Value>(
        _ statement: Statement, _ values: [SQLValue], _ read: (SQLRow) throws -> Value
    ) throws -> [Value] {
        defer { reset(statement) }
        try bind(values, to: statement)
        var result: [Value] = []
        while try step(statement) { result.append(try read(SQLRow(handle: statement.sqliteStatement))) }
        return result
    }

    /// The first row.
    func first<Value>(_ sql: String, _ values: SQLValue..., read: (SQLRow) throws -> Value) throws -> Value? {
        let statement = try cachedStatement(sql: sql)
        defer { reset(statement) }
        try bind(values, to: statement)
        return try step(statement) ? read(SQLRow(handle: statement.sqliteStatement)) : nil
    }

    /// The first row for each of many ids, in their order; those without a row are left out.
    func each<Value>(_ sql: String, _ ids: some Sequence<Int64>, read: (SQLRow) throws -> Value) throws -> [Value] {
        let statement = try cachedStatement(sql: sql)
        var result: [Value] = []
        for id in ids {
            defer { reset(statement) }
            try bind([.integer(id)], to: statement)
            if try step(statement) { result.append(try read(SQLRow(handle: statement.sqliteStatement))) }
        }
        return result
    }

    /// Runs `body` in a transaction that only reads.
    func consistently<Value>(_ body: () throws -> Value) throws -> Value {
        try run("BEGIN DEFERRED")
        let value: Value
        do {
            value = try body()
        } catch {
            // What went wrong is told, not that its end did, too: the next beginning would.
            try? run("ROLLBACK")
            throw error
        }
        try run("COMMIT")
        return value
    }

    private func reset(_ statement: Statement) {
        sqlite3_reset(statement.sqliteStatement)
        sqlite3_clear_bindings(statement.sqliteStatement)
    }

    private func step(_ statement: Statement) throws -> Bool {
        switch sqlite3_step(statement.sqliteStatement) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw failure(code, statement)
        }
    }

    private func failure(_ code: Int32, _ statement: Statement) -> DatabaseError {
        let message = sqlite3_errmsg(sqliteConnection).map { String(cString: $0) }
        return DatabaseError(resultCode: ResultCode(rawValue: code), message: message, sql: statement.sql)
    }

    private func bind(_ values: [SQLValue], to statement: Statement) throws {
        // SQLITE_TRANSIENT, a cast macro that is not imported: SQLite copies the bytes before it returns.
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        let handle = statement.sqliteStatement
        for (index, value) in zip(Int32(1)..., values) {
            let code =
                switch value {
                case .null: sqlite3_bind_null(handle, index)
                case .integer(let number): sqlite3_bind_int64(handle, index, number)
                case .real(let number): sqlite3_bind_double(handle, index, number)
                case .blob(let bytes): Self.bind(bytes, handle, index, transient)
                case .text(let text): sqlite3_bind_text(handle, index, text, -1, transient)
                }
            guard code == SQLITE_OK else { throw failure(code, statement) }
        }
    }

    private static func bind(
        _ bytes: [UInt8], _ handle: OpaquePointer, _ index: Int32, _ transient: sqlite3_destructor_type
    ) -> Int32 {
        guard !bytes.isEmpty else { return sqlite3_bind_zeroblob(handle, index, 0) }
        return bytes.withUnsafeBytes { sqlite3_bind_blob(handle, index, $0.baseAddress, Int32($0.count), transient) }
    }
}
