import QuireCore

/// Which files may get a picture, as far as their names tell.
struct ThumbnailInterest: Sendable {
    private let catalog: TypeCatalog
    /// By the catalog's numbers of types.
    private let makes: [Bool]

    /// - Parameter makes: whether pictures of documents of a type are made in the background.
    init(catalog: TypeCatalog = .system, makes: (ContentType) -> Bool) {
        self.catalog = catalog
        self.makes = (0..<catalog.count).map { makes(catalog.type($0)) }
    }

    /// Whether a file of that name may get one; true where the name says nothing. Takes less than a microsecond.
    func mayGetPicture(_ name: FileName) -> Bool {
        catalog.number(kind: .file, name: name.bytes, packages: PackageNames(extensions: [])).map { makes[$0] } ?? true
    }
}
