import GRDB
import QuireCore

/// Types of rows by their ids, remembering them for the length of one read.
struct TypeReader {
    private var known: [Int64: ContentType] = [:]

    /// What a row with this `type` is; without knowing better, a file is data.
    mutating func type(_ id: Int64, _ db: Database) throws -> ContentType {
        guard id > 0 else { return .data }
        if let type = known[id] { return type }
        let identifier = try db.first("SELECT identifier FROM types WHERE id = ?", .integer(id), read: { $0.text(0) })
        let type = identifier.flatMap { ContentType($0) } ?? .data
        known[id] = type
        return type
    }
}
