/// Types by number, and what each conforms to; being built.
///
/// Declared types come first, in the order of their declaration; types of the MIME database follow as they are met.
struct TypeBook: Sendable {
    private(set) var declarations: [TypeDeclaration] = []
    private(set) var numbers: [String: Int] = [:]
    /// The declared type that a MIME type stands for; of several the one that prefers it, then the first.
    private var byMime: [String: Int] = [:]
    /// Declared types by extension, in the order of their declaration.
    private var byExtension: [String: [Int]] = [:]
    private let database: MimeDatabase
    /// MIME types whose parents are being looked at: a database may go round in a circle.
    private var open: Set<String> = []

    init(_ database: MimeDatabase, declared: [TypeDeclaration] = TypeDeclaration.declared) {
        self.database = database
        for declaration in declared where numbers[declaration.identifier] == nil {
            numbers[declaration.identifier] = declarations.count
            for suffix in declaration.extensions { byExtension[suffix, default: []].append(declarations.count) }
            declarations.append(declaration)
        }
        for isPreferred in [true, false] {
            for (number, declaration) in declarations.enumerated() {
                for (place, mime) in declaration.mimeTypes.enumerated() where (place == 0) == isPreferred {
                    for name in [mime, database.canonical(mime)] where byMime[name] == nil { byMime[name] = number }
                }
            }
        }
    }

    /// The number of a MIME type; one that nothing is declared for gets a type of its own.
    mutating func number(mime: String) -> Int {
        let mime = database.canonical(mime)
        if let number = byMime[mime] { return number }
        let identifier = DynamicType.identifier(mime)
        let supertypes = supertypes(mime)
        let number = declarations.count
        declarations.append(TypeDeclaration(identifier: identifier, supertypes: supertypes, mimeTypes: [mime]))
        numbers[identifier] = number
        byMime[mime] = number
        return number
    }

    /// The number of the declared type of which both extension and MIME type fit, else of the MIME type.
    mutating func number(mime: String, extension suffix: String?) -> Int {
        guard let suffix else { return number(mime: mime) }
        let canonical = database.canonical(mime)
        let fitting = byExtension[suffix, default: []].first { number in
            declarations[number].mimeTypes.contains { $0 == mime || database.canonical($0) == canonical }
        }
        return fitting ?? number(mime: mime)
    }

    mutating func addExtension(_ suffix: String, to number: Int) {
        guard !declarations[number].extensions.contains(suffix) else { return }
        declarations[number].extensions.append(suffix)
    }

    /// What an undeclared MIME type conforms to: its parents in the database, and what the database leaves unsaid: texts are
    /// `text/plain`, and whatever is no `inode/…` is data.
    private mutating func supertypes(_ mime: String) -> [String] {
        guard open.insert(mime).inserted, open.count < 64 else { return ["public.data"] }
        defer { open.remove(mime) }
        var found: [String] = []
        for parent in database.parents[mime, default: []].prefix(16) {
            // A circle: whoever began it says what it is.
            guard !open.contains(database.canonical(parent)) else { continue }
            found.append(declarations[number(mime: parent)].identifier)
        }
        if let media = Self.byMedia[String(mime.prefix { $0 != "/" })] { found.append(media) }
        if let suffix = Self.bySuffix.first(where: { mime.hasSuffix($0.key) })?.value { found.append(suffix) }
        var seen: Set<String> = []
        found = found.filter { seen.insert($0).inserted }
        return found.isEmpty ? ["public.data"] : found
    }

    /// `text/…` and so on. (Shared MIME-info specification, "Subclassing")
    private static let byMedia = [
        "text": "public.plain-text", "image": "public.image", "audio": "public.audio", "video": "public.movie",
        "font": "public.font", "model": "public.3d-content", "message": "public.message", "inode": "public.item",
    ]
    /// RFC 6839.
    private static let bySuffix = ["+xml": "public.xml", "+json": "public.json", "+zip": "com.pkware.zip-archive"]
}
