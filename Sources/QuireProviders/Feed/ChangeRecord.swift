import QuireCore

/// What a device tells the others: where it changed something, or that they are to look at everything.
///
/// ```
/// quire-changes 1
/// notes/a%20b.txt
/// notes
/// ```
/// One path a line, percent-encoded; a single `*` for everything. What is there now is not in it: who reads it looks.
enum ChangeRecord: Equatable {
    case paths([RelativePath])
    case everything

    /// With more, looking at each costs more than a listing does.
    static let mostPaths = 500
    /// Longest record, in bytes: `mostPaths` paths of 4096 bytes, each percent-encoded.
    static let limit = 8 << 20

    /// What to tell of paths; nil for everything.
    init(_ paths: [RelativePath]?) {
        guard let paths, paths.count <= Self.mostPaths else {
            self = .everything
            return
        }
        self = .paths(paths)
    }

    var bytes: [UInt8] {
        let lines =
            switch self {
            case .everything: [Self.all]
            case .paths(let paths): paths.map { PercentEncoding.encode($0.bytes) }
            }
        return Array(([Self.header] + lines).map { $0 + "\n" }.joined().utf8)
    }

    /// Reads what `bytes` wrote. What cannot be read, as from a newer version, means everything.
    init(reading bytes: [UInt8]) {
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        guard lines.first == Self.header else {
            self = .everything
            return
        }
        var paths: [RelativePath] = []
        for line in lines.dropFirst() {
            guard let path = Self.path(line) else {
                self = .everything
                return
            }
            paths.append(path)
        }
        self = .paths(paths)
    }

    private static func path(_ line: String) -> RelativePath? {
        if line == all { return nil }
        let names = PercentEncoding.decode(line).split(separator: 0x2F, omittingEmptySubsequences: false)
        let known = names.compactMap { FileName($0) }
        return known.count == names.count ? RelativePath(known) : nil
    }

    private static let all = "*"
    private static let header = "quire-changes 1"
}
