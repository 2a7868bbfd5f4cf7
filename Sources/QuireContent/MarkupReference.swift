/// Character references of HTML and XML.
enum MarkupReference {
    /// - Parameter body: what stands between `&` and `;`.
    /// - Returns: nil for what is none.
    static func scalar(_ body: ArraySlice<UInt8>) -> Unicode.Scalar? {
        let text = String(decoding: body, as: UTF8.self)
        guard text.hasPrefix("#") else { return named[text] }
        let digits = text.dropFirst()
        let number =
            digits.first.map { "xX".contains($0) } == true ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        return number.flatMap { $0 == 0 ? nil : Unicode.Scalar($0) }
    }

    private static let named: [String: Unicode.Scalar] = {
        var names: [String: Unicode.Scalar] = [
            "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": " ", "shy": "\u{AD}", "ndash": "–",
            "mdash": "—", "hellip": "…", "lsquo": "‘", "rsquo": "’", "ldquo": "“", "rdquo": "”", "euro": "€",
            "OElig": "Œ", "oelig": "œ", "Scaron": "Š", "scaron": "š", "Yuml": "Ÿ", "zwnj": "\u{200C}",
            "zwj": "\u{200D}",
        ]
        // HTML 4, section 24.2: the letters of ISO 8859-1, from 192 on.
        for (number, name) in zip(UInt32(192)..., latin) { names[String(name)] = Unicode.Scalar(number) }
        return names
    }()

    private static let latin = """
        Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde \
        Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc \
        atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc \
        otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml
        """.split(separator: " ")
}
