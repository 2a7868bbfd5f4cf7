/// The directories that something lies in, and those above them.
package struct DirectorySet: Sendable, Hashable {
    private var paths: Set<RelativePath> = []

    package init() {}

    /// Nil is in none.
    package func contains(_ directory: RelativePath?) -> Bool { directory.map(paths.contains) ?? false }

    /// Adds those of an entry; nil has none.
    package mutating func insert(above entry: RelativePath?) {
        var current = entry?.parent
        while let path = current, paths.insert(path).inserted { current = path.parent }
    }
}
