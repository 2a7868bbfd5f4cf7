import QuireCore
import QuireTestSupport

extension SeededRandom {
    /// A path of at most `depth` of these names.
    mutating func path(of names: [FileName], depth: Int) -> RelativePath {
        let depth = Int.random(in: 1...depth, using: &self)
        return RelativePath((0..<depth).map { _ in names.randomElement(using: &self) ?? "a" })
    }

    /// One of these, whatever order they come in; nil of none.
    mutating func one(of paths: some Sequence<RelativePath>) -> RelativePath? {
        paths.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }.randomElement(using: &self)
    }
}
