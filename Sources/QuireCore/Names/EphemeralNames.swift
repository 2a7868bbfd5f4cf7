/// The names of editors' temporary, swap and lock files: kept on the mount and in the store, never uploaded.
///
/// Source of the list: design, "Coordination on the mount". Patterns are shell globs over bytes with `*`, `?` and
/// `[a-z]`; a file is ephemeral when its own name, or that of a directory it lies in, matches one.
public struct EphemeralNames: Sendable, Equatable {
    /// The patterns used when the configuration names none.
    public static let standardPatterns = [
        ".*.sw?", "4913", "*~", "#*#", ".#*", ".goutputstream-*", ".~lock.*#", "~$*", "lu*.tmp", "*.crdownload",
        "*.part", ".fuse_hidden*", ".nfs*", ".Trash-*",
    ]

    /// The patterns in force.
    public let patterns: [String]
    private let globs: [Glob]

    /// Takes other patterns than the standard ones.
    public init(patterns: [String] = EphemeralNames.standardPatterns) {
        self.patterns = patterns
        self.globs = patterns.map(Glob.init)
    }

    /// Whether a file of this name is ephemeral by itself.
    public func contains(_ name: FileName) -> Bool { globs.contains { $0.matches(name.bytes) } }

    /// Whether any component of `path` is ephemeral.
    public func contains(_ path: RelativePath) -> Bool { path.components.contains(where: contains) }

    /// Equal where the patterns are.
    public static func == (left: EphemeralNames, right: EphemeralNames) -> Bool { left.patterns == right.patterns }
}
