import QuireCore

/// What a device tells the others: where it changed something, or that they are to look at everything.
///
/// ```
/// quire-changes 2 5b2f09c41d7e8a36
/// notes/a%20b.txt 1790000000.250000000 644 5d41402abc4b2a76b9719d911017c592
/// notes
/// ```
/// One path a line, percent-encoded; a single `*` for everything. What is there now is not in it: who reads it looks. Where
/// listings have no times and modes of documents, those that were sent follow, with the version that they belong to. Version 1,
/// which is written where no line has these, has paths only. The first line ends with what no other record has: one that is there
/// again after the store was set back is not taken for the former.
enum ChangeRecord: Equatable {
    case changes([AnnouncedChange])
    case everything

    /// In one record; of more than that much changed at once, others look at everything.
    static let mostPaths = 10_000
    /// Longest record, in bytes.
    static let limit = 8 << 20

    /// What to tell of changes; nil for everything.
    init(_ changes: [AnnouncedChange]?) {
        guard let changes, changes.count <= Self.mostPaths else {
            self = .everything
            return
        }
        self = .changes(changes)
        if bytes(unique: 0).count > Self.limit { self = .everything }
    }

    /// - Parameter unique: what no other record has.
    func bytes(unique: UInt64 = .random(in: 1 ... .max)) -> [UInt8] {
        let mark = String(unique, radix: 16)
        var lines: [String]
        switch self {
        case .everything: lines = ["\(Self.header(1)) \(mark)", Self.all]
        case .changes(let changes):
            let hasAttributes = changes.contains { $0.attributes != nil }
            lines = ["\(Self.header(hasAttributes ? 2 : 1)) \(mark)"] + changes.map(Self.line)
        }
        return Array(lines.map { $0 + "\n" }.joined().utf8)
    }

    /// Reads what `bytes` wrote. What cannot be read, as from a newer version, means everything.
    init(reading bytes: [UInt8]) {
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        let header = lines.first?.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false).prefix(2)
        guard let header, [Self.header(1), Self.header(2)].contains(header.joined(separator: " ")) else {
            self = .everything
            return
        }
        var changes: [AnnouncedChange] = []
        for line in lines.dropFirst() {
            guard let change = Self.change(line) else {
                self = .everything
                return
            }
            changes.append(change)
        }
        self = .changes(changes)
    }

    private static func line(_ change: AnnouncedChange) -> String {
        let path = PercentEncoding.encode(change.path.bytes)
        guard let (version, attributes) = change.document else { return path }
        let (time, mode) = (DecimalTime.text(attributes.mtime), String(attributes.mode & 0o777, radix: 8))
        return "\(path) \(time) \(mode) \(PercentEncoding.encode(version.rawValue.utf8))"
    }

    private static func change(_ line: String) -> AnnouncedChange? {
        let fields = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard let path = path(fields[0]) else { return nil }
        if fields.count == 1 { return AnnouncedChange(path) }
        guard fields.count == 4, let time = DecimalTime.parse(fields[1]), let mode = UInt16(fields[2], radix: 8),
            mode <= 0o777, let version = String(validating: PercentEncoding.decode(fields[3]), as: UTF8.self)
        else { return nil }
        return AnnouncedChange(path, ProviderVersion(version), RemoteAttributes(mtime: time, mode: mode))
    }

    private static func path(_ line: String) -> RelativePath? {
        if line == all { return nil }
        let names = PercentEncoding.decode(line).split(separator: 0x2F, omittingEmptySubsequences: false)
        let known = names.compactMap { FileName($0) }
        return known.count == names.count ? RelativePath(known) : nil
    }

    private static let all = "*"
    private static func header(_ version: Int) -> String { "quire-changes \(version)" }
}
