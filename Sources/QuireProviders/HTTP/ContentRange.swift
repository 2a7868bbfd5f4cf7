import QuireCore

/// Parts of documents over HTTP (RFC 9110 §14).
enum ContentRange {
    /// The field that asks for a part.
    static func fields(_ range: Range<Int64>) -> HTTPFields {
        ["Range": "bytes=\(range.lowerBound)-\(range.upperBound - 1)"]
    }

    /// The size of the whole document, from an answer that brings exactly this part.
    ///
    /// - Throws: `.unsupported` where the server sends something else than was asked for, as those do that know no ranges.
    static func total(
        _ answer: HTTPAnswer, _ range: Range<Int64>, _ path: RelativePath
    ) throws(ProviderError) -> Int64 {
        if answer.status == 206, let field = answer.fields["Content-Range"], let (part, total) = parse(field),
            part == range
        {
            return total
        }
        // All of it may be sent as the whole.
        if answer.status == 200, range.lowerBound == 0, let text = answer.fields["Content-Length"],
            Int64(text) == range.upperBound
        {
            return range.upperBound
        }
        throw ProviderError(.unsupported, "\(path): the server hands out whole documents only")
    }

    /// `bytes FIRST-LAST/TOTAL`.
    private static func parse(_ field: String) -> (Range<Int64>, Int64)? {
        guard field.lowercased().hasPrefix("bytes ") else { return nil }
        let parts = field.dropFirst(6).split(whereSeparator: { $0 == "-" || $0 == "/" }).map { Int64($0.trimmed) }
        guard parts.count == 3, let first = parts[0], let last = parts[1], let total = parts[2], first >= 0,
            first <= last, last < total
        else { return nil }
        return (first..<last + 1, total)
    }
}
