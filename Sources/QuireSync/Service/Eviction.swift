package import QuireCore

/// What an eviction did, and what it left as it is.
package struct Eviction: Sendable {
    /// A file whose content stays here.
    package struct Refusal: Sendable {
        package let path: RelativePath
        /// Names the file, the reason and the remedy.
        package let error: QuireError
    }

    /// How many files were evicted.
    package var files = 0
    /// The first that could not be, `mostNamed` at most.
    package private(set) var refused: [Refusal] = []
    /// How many there are beyond these.
    package private(set) var more = 0

    /// How many refusals are named.
    package static let mostNamed = 10

    mutating func note(_ path: RelativePath, _ error: QuireError) {
        if refused.count < Self.mostNamed {
            refused.append(Refusal(path: path, error: error))
        } else {
            more += 1
        }
    }
}
