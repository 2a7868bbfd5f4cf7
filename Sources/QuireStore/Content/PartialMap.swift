import QuireCore

/// Which bytes of a document are here, as it is written down beside them.
/// ```
/// quire-partial 1
/// container default
/// size 1073741824
/// ranges 0-4194304 1069547520-1073741824
/// version the provider's version, to the end of the file
/// ```
/// Ranges are in bytes, the second number is the first that is not in it.
struct PartialMap: Hashable {
    var subject: PartialContent.Subject
    var present: RangeSet<Int64>

    init(_ subject: PartialContent.Subject, _ present: RangeSet<Int64>) {
        (self.subject, self.present) = (subject, present)
    }

    var text: String {
        let ranges = present.ranges.map { " \($0.lowerBound)-\($0.upperBound)" }.joined()
        return """
            \(Self.header)
            container \(subject.container)
            size \(subject.size)
            ranges\(ranges)
            version \(subject.version.rawValue)
            """
    }

    /// Reads what `text` wrote of the item; nil for anything else.
    init?(_ bytes: [UInt8], item: ItemID) {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        let lines = text.utf8.split(separator: 0x0A, maxSplits: 4, omittingEmptySubsequences: false).map {
            String(Substring($0))
        }
        guard lines.count == 5, lines[0] == Self.header,
            let container = Self.value("container ", lines[1]).flatMap(ContainerID.init),
            let size = Self.value("size ", lines[2]).flatMap({ Int64($0) }), size > 0,
            let version = Self.value("version ", lines[4]), let list = Self.value("ranges", lines[3])
        else { return nil }
        var present = RangeSet<Int64>()
        for part in list.split(separator: " ") {
            let ends = part.split(separator: "-").map { Int64($0) }
            guard ends.count == 2, let first = ends[0], let end = ends[1], 0 <= first, first < end, end <= size else {
                return nil
            }
            present.insert(contentsOf: first..<end)
        }
        subject = PartialContent.Subject(
            item: item, container: container, version: ProviderVersion(version), size: size)
        self.present = present
    }

    private static func value(_ key: String, _ line: String) -> String? {
        line.utf8.starts(with: key.utf8) ? String(Substring(line.utf8.dropFirst(key.utf8.count))) : nil
    }

    private static let header = "quire-partial 1"
}
