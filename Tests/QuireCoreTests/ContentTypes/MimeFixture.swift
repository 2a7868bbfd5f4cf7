import Foundation

@testable import QuireCore

/// A MIME database in a temporary directory, in the form that `update-mime-database` writes.
final class MimeFixture {
    let root: String

    init() throws {
        root = NSTemporaryDirectory() + "quire-mime-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: root) }

    /// Writes one directory of it, and returns its path.
    func directory(
        _ name: String, globs: String, subclasses: String = "", aliases: String = "", magic: [UInt8]? = nil
    ) throws -> String {
        let path = "\(root)/\(name)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try globs.write(toFile: path + "/globs2", atomically: false, encoding: .utf8)
        try subclasses.write(toFile: path + "/subclasses", atomically: false, encoding: .utf8)
        try aliases.write(toFile: path + "/aliases", atomically: false, encoding: .utf8)
        if let magic { try Data(magic).write(to: URL(fileURLWithPath: path + "/magic")) }
        return path
    }

    /// A catalog of these directories, those that count more first.
    static func catalog(_ directories: String...) -> TypeCatalog { TypeCatalog(MimeDatabase.read(directories)) }
}

extension TypeCatalog {
    /// The identifier of a file's type by its name; nil where the name says nothing.
    func identifier(_ name: String, _ kind: FileKind = .file) -> String? {
        number(kind: kind, name: Array(name.utf8), packages: PackageNames()).map { type($0).identifier }
    }

    /// The identifier of a type by content that is all of the file.
    func identifier(content: [UInt8]) -> String { type(number(content: content, isWhole: true)).identifier }

    func tree(_ identifier: String) -> [String] { tree(ContentType(unchecked: identifier)).map(\.identifier) }
}

/// Bytes of a rule in the file `magic`.
enum MagicBytes {
    static func rule(
        depth: Int = 0, at offset: Int = 0, _ value: [UInt8], mask: [UInt8] = [], word: Int? = nil, places: Int? = nil
    ) -> [UInt8] {
        var bytes = Array((depth == 0 ? ">\(offset)=" : "\(depth)>\(offset)=").utf8)
        bytes += [UInt8(value.count >> 8), UInt8(value.count & 0xFF)] + value
        if !mask.isEmpty { bytes += [UInt8(ascii: "&")] + mask }
        if let word { bytes += Array("~\(word)".utf8) }
        if let places { bytes += Array("+\(places)".utf8) }
        return bytes + [UInt8(ascii: "\n")]
    }

    static func file(_ sections: (mime: String, priority: Int, rules: [[UInt8]])...) -> [UInt8] {
        sections.reduce(Array("MIME-Magic\0\n".utf8)) {
            $0 + Array("[\($1.priority):\($1.mime)]\n".utf8) + $1.rules.flatMap { $0 }
        }
    }
}
