package import QuireCore

/// Gives items their types by kind and name.
package struct ItemTyper: Sendable {
    let catalog: TypeCatalog
    private let packages: PackageNames

    /// - Parameters:
    ///   - catalog: the types that there are; reading the installed database takes some milliseconds.
    ///   - packages: which directories are one document.
    package init(_ catalog: TypeCatalog = .system, packages: PackageNames = PackageNames()) {
        self.catalog = catalog
        self.packages = packages
    }

    /// A number in the catalog; nil for a file whose name says nothing.
    func number(_ kind: FileKind, _ name: [UInt8]) -> Int? {
        catalog.number(kind: kind, name: name, packages: packages)
    }

    /// By what rows are typed, as text to compare with at the next start.
    var stored: String {
        "\(catalog.signature) \(packages.extensions.sorted().joined(separator: ","))"
    }
}

/// What the column `type` of `items` holds where it is not the id of a row of `types`.
enum TypeCode {
    /// The name says nothing, and the content, which is here, was not looked at yet.
    static let unseen: Int64 = -1
    /// The name says nothing, and the content is not here.
    static let absent: Int64 = -2
}
