/// Paths as text.
package enum AbsolutePath {
    /// Absolute, without `.`, `..`, doubled or trailing slashes. Works on the text alone: symlinks are not looked at.
    package static func normalized(_ path: String, in directory: String) -> String {
        let whole = path.hasPrefix("/") ? path : "\(directory)/\(path)"
        var parts: [Substring] = []
        for part in whole.split(separator: "/") where part != "." {
            if part == ".." {
                _ = parts.popLast()
            } else {
                parts.append(part)
            }
        }
        return "/" + parts.joined(separator: "/")
    }

    /// Whether `path` is `directory` or lies below it; both normalized.
    package static func isInside(_ path: String, _ directory: String) -> Bool {
        directory == "/" || path == directory || path.hasPrefix(directory + "/")
    }

    /// Whether one is the other, or lies below it; both normalized.
    package static func overlap(_ path: String, _ other: String) -> Bool {
        isInside(path, other) || isInside(other, path)
    }
}
