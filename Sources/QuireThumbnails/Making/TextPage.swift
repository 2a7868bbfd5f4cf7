/// The beginning of a text as a drawing of a page, in SVG: what draws it never sees the document itself.
package enum TextPage {
    private static let (width, height, lines, columns) = (724, 1024, 60, 80)

    /// - Parameter bytes: the first few thousand of a document.
    /// - Returns: nil for what is no text: with NULs in it, or not UTF-8 but for a letter that is cut off at the end.
    package static func drawing(of bytes: [UInt8]) -> String? {
        guard !bytes.contains(0) else { return nil }
        let cut = (0...min(3, bytes.count)).first { String(validating: bytes.dropLast($0), as: UTF8.self) != nil }
        guard let cut, let text = String(validating: bytes.dropLast(cut), as: UTF8.self) else { return nil }
        var rows = ""
        for (row, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            .prefix(lines).enumerated()
        {
            rows += "<text x=\"40\" y=\"\(50 + row * 16)\">\(escaped(line.prefix(columns)))</text>\n"
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(height)" font-family="monospace" \
            font-size="13" xml:space="preserve"><rect width="100%" height="100%" fill="white"/>
            \(rows)</svg>
            """
    }

    private static func escaped(_ line: Substring) -> String {
        line.unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\t": text += "    "
            // What XML 1.0 has no place for.
            case _ where scalar.value < 0x20 || scalar.value & 0xFFFE == 0xFFFE: text += "\u{FFFD}"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }
}
