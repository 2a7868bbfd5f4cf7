/// What is read of shared-mime-info's database: patterns for names, rules for content, which type is which.
///
/// All MIME types are in lower case. (Shared MIME-info specification, 0.21.)
package struct MimeDatabase: Sendable {
    /// A pattern for names.
    struct Pattern: Sendable, Hashable {
        var mime: String
        var glob: [UInt8]
        /// 0 … 100; 50 is usual.
        var weight: Int
        var isCaseSensitive: Bool
    }

    /// The directories that it was read from, `…/share/mime`, those that count more first.
    package internal(set) var directories: [String] = []
    /// Those of directories that count more first.
    var patterns: [Pattern] = []
    /// Each type's parents.
    var parents: [String: [String]] = [:]
    /// Other names of types.
    var aliases: [String: String] = [:]
    /// By priority, the highest first.
    var magic: [MagicSection] = []
    /// Another where the database is another.
    package internal(set) var signature: UInt64 = FNV1a.empty

    /// None is installed.
    package init() {}

    /// Whether one was found.
    package var isInstalled: Bool { !patterns.isEmpty }

    /// The name that a type is known by.
    func canonical(_ mime: String) -> String { aliases[mime] ?? mime }
}
