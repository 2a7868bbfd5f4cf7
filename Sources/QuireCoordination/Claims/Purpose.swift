/// A purpose identifier: requests with equal purposes never wait for one another, whatever process they come from.
package struct Purpose: Hashable, Sendable, CustomStringConvertible {
    /// Not empty, else a request with it is refused as invalid.
    package let rawValue: String

    package init(_ rawValue: String) { self.rawValue = rawValue }

    /// What all plain file access through the mount shares, so that POSIX rules alone hold between programs.
    ///
    /// The sync engine uses it, too: it then waits for applications' claims and never holds up a program on the mount.
    package static let mount = Purpose("quire.mount")

    /// The identifier itself.
    package var description: String { rawValue }
}
