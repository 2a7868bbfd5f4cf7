/// Divides the directories of a level into parts that can be listed at the same time, each by one prefix.
///
///     photo 2023/ ─┐
///     photo 2024/ ─┴─ photo 202
///     photo 1999/ ─── photo 1999/
///
/// A prefix is what every store lists by, in whatever order it keeps its keys; where to begin in that order is not.
struct S3Prefixes: Sendable {
    /// The common beginnings, of the part with the most directories first. Each directory begins with just one of them.
    let list: [[UInt8]]

    /// By characters: a prefix that ends within one is no text, which stores refuse.
    private typealias Part = ArraySlice<[Unicode.Scalar]>

    /// Nil where a key is no UTF-8.
    ///
    /// - Parameters:
    ///   - directories: their keys, each with its slash at the end and no other after the level's own; none twice.
    ///   - width: how many parts are listed at one time: none gets more than its share of the directories, where their names
    ///     allow that.
    ///   - most: no more parts are made once there are so many.
    init?(_ directories: [[UInt8]], width: Int, most: Int) {
        var keys: [[Unicode.Scalar]] = []
        for directory in directories {
            guard let text = String(validating: directory, as: UTF8.self) else { return nil }
            keys.append(Array(text.unicodeScalars))
        }
        keys.sort { $0.lexicographicallyPrecedes($1) }
        let share = max(1, keys.count / max(1, width))
        var parts: [Part] = keys.isEmpty ? [] : [keys[...]]
        while parts.count < most, let largest = parts.indices.max(by: { parts[$0].count < parts[$1].count }),
            parts[largest].count > share
        {
            parts += Self.divided(parts.remove(at: largest))
        }
        list = parts.sorted { $0.count > $1.count }.map { part in
            var text = String.UnicodeScalarView()
            text.append(contentsOf: Self.common(part))
            return Array(String(text).utf8)
        }
    }

    /// By the first character in which they differ. No key is the beginning of another, as the slash is its last.
    private static func divided(_ part: Part) -> [Part] {
        let length = common(part).count
        var parts: [Part] = []
        var start = part.startIndex
        for index in part.indices.dropFirst() where part[index][length] != part[start][length] {
            parts.append(part[start..<index])
            start = index
        }
        return parts + [part[start...]]
    }

    /// What all of a sorted part begin with.
    private static func common(_ part: Part) -> [Unicode.Scalar] {
        guard let first = part.first, let last = part.last else { return [] }
        return zip(first, last).prefix { $0 == $1 }.map(\.0)
    }
}
