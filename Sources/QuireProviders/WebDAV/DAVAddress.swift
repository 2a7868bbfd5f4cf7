import QuireCore

/// Where on a server documents lie, and how their paths are written there (RFC 4918 §8.3).
struct DAVAddress: Sendable {
    let origin: HTTPOrigin
    /// The account's root: decoded, with a leading and without a trailing slash; empty for the server's own.
    private let base: [UInt8]

    /// - Parameter base: percent-encoded path of the account's root.
    init(origin: HTTPOrigin, base: String) {
        self.origin = origin
        let names = PercentEncoding.decode(base).split(separator: 0x2F)
        self.base = names.flatMap { [0x2F] + $0 }
    }

    /// The names of the account's root.
    var names: [[UInt8]] { base.split(separator: 0x2F).map(Array.init) }

    /// Where this is, for people.
    var place: String { "\(origin)\(target(.root).dropLast())" }

    /// The request target of an item. Some servers want directories with a slash at the end, and no file ever with one.
    func target(_ path: RelativePath, isDirectory: Bool = false) -> String {
        let root = base.split(separator: 0x2F).map { "/\(PercentEncoding.encode($0))" }.joined()
        return path.isRoot ? "\(root)/" : "\(root)/\(PercentEncoding.encode(path))\(isDirectory ? "/" : "")"
    }

    /// The whole URL of an item, as Destination and If fields have it.
    func url(_ path: RelativePath, isDirectory: Bool = false) -> String {
        "\(origin)\(target(path, isDirectory: isDirectory))"
    }

    /// The path that an href stands for: a whole URL or an absolute path, encoded in any way, with or without a slash at
    /// the end; nil where it lies outside of the account's root, or is no path.
    func path(href: String) -> RelativePath? {
        guard let target = Self.target(href: href) else { return nil }
        let bytes = PercentEncoding.decode(target)
        guard bytes.starts(with: base), bytes.count == base.count || bytes[base.count] == 0x2F else { return nil }
        var names: [FileName] = []
        for part in bytes.dropFirst(base.count).split(separator: 0x2F) {
            guard let name = FileName(part) else { return nil }
            names.append(name)
        }
        return RelativePath(names)
    }

    /// The path in a whole URL or an absolute path, encoded as it came; nil for anything else.
    static func target(href: String) -> String? {
        let text = href.trimmed
        return text.hasPrefix("/") ? text : HTTPOrigin.parse(text)?.target
    }
}
