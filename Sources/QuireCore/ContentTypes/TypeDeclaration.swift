/// What is declared of one type.
package struct TypeDeclaration: Sendable, Hashable {
    package var identifier: String
    /// The types that it conforms to of itself; those conform to others in turn.
    package var supertypes: [String]
    /// Without dot, in lower case; the preferred one first.
    package var extensions: [String]
    /// In lower case; the preferred one first.
    package var mimeTypes: [String]
    /// What people call it, in English.
    package var name: String

    package init(
        identifier: String, supertypes: [String] = [], extensions: [String] = [], mimeTypes: [String] = [],
        name: String = ""
    ) {
        self.identifier = identifier
        self.supertypes = supertypes
        self.extensions = extensions
        self.mimeTypes = mimeTypes
        self.name = name
    }

    /// The types that are declared whether or not a MIME database is installed.
    package static let declared: [TypeDeclaration] = DeclaredTypes.table.split(separator: "\n").compactMap { line in
        let fields = line.split(separator: "|", omittingEmptySubsequences: false)
        guard fields.count == 5 else { return nil }
        func list(_ field: Substring) -> [String] { field.split(separator: ",").map(String.init) }
        return TypeDeclaration(
            identifier: String(fields[0]), supertypes: list(fields[1]), extensions: list(fields[2]),
            mimeTypes: list(fields[3]), name: String(fields[4]))
    }
}
