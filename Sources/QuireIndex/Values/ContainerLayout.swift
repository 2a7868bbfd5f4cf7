package import QuireCore

/// Which top-level directories of the drive are containers that sync by themselves; all else is the default
/// container's.
package struct ContainerLayout: Sendable, Hashable {
    /// A container and its Documents scope.
    package struct Root: Sendable, Hashable {
        package var container: ContainerID
        /// A top-level directory of the drive.
        package var directory: FileName

        package init(_ container: ContainerID, at directory: FileName) {
            self.container = container
            self.directory = directory
        }
    }

    /// No container but the default one.
    package static let single = ContainerLayout([])

    package let roots: [Root]
    private let byName: [FileName: ContainerID]

    /// - Parameter roots: each directory at most once; of two with the same directory the first counts.
    package init(_ roots: [Root]) {
        self.roots = roots
        self.byName = Dictionary(roots.map { ($0.directory, $0.container) }, uniquingKeysWith: { first, _ in first })
    }

    /// The container whose root the top-level directory `name` is.
    package func container(at name: FileName) -> ContainerID? { byName[name] }

    /// Where the container's paths begin, below the drive's root; nil for a container that is not in the layout.
    package func root(of container: ContainerID) -> RelativePath? {
        if container == .default { return .root }
        return roots.first { $0.container == container }.map { RelativePath([$0.directory]) }
    }
}
