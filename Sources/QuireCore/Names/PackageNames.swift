/// Which directories are packages: shown and coordinated as one document. Decided by the name's extension alone, so that
/// it can be told without looking; a file with such a name is a document anyway.
package struct PackageNames: Sendable, Equatable {
    /// The extensions used when the configuration names none.
    package static let standardExtensions = [
        "pkg", "bundle", "rtfd", "pages", "numbers", "key", "graffle", "sparsebundle", "logicx", "band",
        "photoslibrary",
        "quirepackage",
    ]

    /// Without dot, in lower case.
    package let extensions: [String]
    private let bytes: [[UInt8]]
    /// Bit n: some extension is n bytes long (63: or longer).
    private let lengths: UInt64

    /// - Parameter extensions: without dot; upper and lower case are alike.
    package init(extensions: [String] = PackageNames.standardExtensions) {
        self.extensions = extensions.map { $0.lowercased() }
        self.bytes = self.extensions.map { Array($0.utf8) }
        self.lengths = bytes.reduce(0) { $0 | Self.length($1.count) }
    }

    /// The outermost package on the way to `path`, which may be `path` itself.
    package func root(of path: RelativePath) -> RelativePath? {
        end(in: path.bytes, from: 0).map { RelativePath(unchecked: Array(path.bytes[..<$0])) }
    }

    /// All packages on the way to `path`, outermost first; the last may be `path` itself.
    package func all(on path: RelativePath) -> [RelativePath] {
        var found: [RelativePath] = []
        var start = 0
        while let end = end(in: path.bytes, from: start) {
            found.append(RelativePath(unchecked: Array(path.bytes[..<end])))
            start = end + 1
        }
        return found
    }

    /// Whether the last component of `path` is a package's name.
    package func contains(_ path: RelativePath) -> Bool {
        let start = path.bytes.lastIndex(of: 0x2F).map { $0 + 1 } ?? 0
        return end(in: path.bytes, from: start) != nil
    }

    /// Equal where the extensions are.
    package static func == (left: PackageNames, right: PackageNames) -> Bool { left.extensions == right.extensions }

    /// The end of the first component from `start` on that is a package's name.
    private func end(in path: [UInt8], from start: Int) -> Int? {
        var first = start
        var dot = -1
        for index in start...max(start, path.count) {
            let byte = index < path.count ? path[index] : 0x2F
            if byte == 0x2E {
                dot = index
            } else if byte == 0x2F {
                if dot > first, isExtension(path[(dot + 1)..<min(index, path.count)]) { return index }
                first = index + 1
                dot = -1
            }
        }
        return nil
    }

    private func isExtension(_ candidate: ArraySlice<UInt8>) -> Bool {
        guard lengths & Self.length(candidate.count) != 0 else { return false }
        return bytes.contains { known in
            guard known.count == candidate.count else { return false }
            for index in known.indices {
                let byte = candidate[candidate.startIndex + index]
                guard known[index] == byte.asciiLowercased else { return false }
            }
            return true
        }
    }

    private static func length(_ count: Int) -> UInt64 { 1 << UInt64(min(count, 63)) }
}
