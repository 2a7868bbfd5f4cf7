import Synchronization

extension TypeCatalog {
    /// What people call a type, in English: as declared, else as the MIME database has it, else by its MIME type.
    ///
    /// The first question about a type that is not declared reads a file of the database.
    package func name(of type: ContentType) -> String? {
        if let known = knownNames.withLock({ $0[type.identifier] }) { return known }
        let name = findName(type)
        knownNames.withLock { if $0.count < Self.mostKnown { $0[type.identifier] = .some(name) } }
        return name
    }

    private func findName(_ type: ContentType) -> String? {
        guard let declaration = declaration(type) else { return nil }
        if !declaration.name.isEmpty { return declaration.name }
        guard let mime = declaration.mimeTypes.first else { return nil }
        return comment(mime) ?? mime
    }

    /// The `<comment>` without a language of `DIRECTORY/TYPE/SUBTYPE.xml`.
    private func comment(_ mime: String) -> String? {
        guard !mime.contains("..") else { return nil }
        for directory in database.directories {
            guard let bytes = MimeDatabaseReader.read("\(directory)/\(mime).xml"), bytes.count < 1 << 18,
                let text = String(validating: bytes, as: UTF8.self),
                let start = text.firstRange(of: "<comment>"),
                let end = text[start.upperBound...].firstRange(of: "</comment>")
            else { continue }
            return Self.plain(text[start.upperBound..<end.lowerBound])
        }
        return nil
    }

    private static func plain(_ text: Substring) -> String {
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")]
            .reduce(String(text)) { $0.replacing($1.0, with: $1.1) }
    }
}
