import GRDB
import GRDBSQLite

/// Functions of our own that SQL calls, by the C API: no value is copied more than once.
enum SQLFunction {
    typealias Body = @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void

    /// Makes a function known to a connection.
    ///
    /// - Parameters:
    ///   - isPure: it answers the same for the same arguments, and does nothing else.
    ///   - context: what the body gets from `sqlite3_user_data`; lives as long as the connection.
    static func register(
        _ name: String, _ count: Int32, in db: Database, isPure: Bool, context: UnsafeMutableRawPointer? = nil,
        _ body: Body
    ) throws {
        let flags = SQLITE_UTF8 | (isPure ? SQLITE_DETERMINISTIC : 0)
        let code = sqlite3_create_function_v2(db.sqliteConnection, name, count, flags, context, body, nil, nil, nil)
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }

    /// An argument's bytes, which are SQLite's: for the time of `body` only.
    static func withBytes<Result>(_ value: OpaquePointer?, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        guard let start = sqlite3_value_blob(value) else { return body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        return body(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value))))
    }

    /// An argument's bytes.
    static func bytes(_ value: OpaquePointer?) -> [UInt8] { withBytes(value) { Array($0) } }

    /// An argument's text.
    static func text(_ value: OpaquePointer?) -> String { String(decoding: bytes(value), as: UTF8.self) }
}
