import Synchronization

/// All types that are known, and which name or content has which.
///
/// Made once and never changed; from any thread.
package final class TypeCatalog: Sendable {
    /// Of the declared types and the MIME database that is installed; read when it is first asked for.
    package static let system = TypeCatalog(MimeDatabase.readInstalled())

    /// Where the database is, and whether there is one.
    package let database: MimeDatabase
    private let declarations: [TypeDeclaration]
    private let numbers: [String: Int]
    private let names: NameTable
    /// Directories that are one document by their extension.
    private let packages: [String: Int]
    private let magic: [(section: MagicSection, number: Int)]
    /// What was answered before. Innermost locks; types are few, and more than `mostKnown` are not kept.
    private let trees = Lock<[String: [ContentType]]>([:])
    let knownNames = Lock<[String: String?]>([:])
    static let mostKnown = 10_000
    /// `public.data`, what a file is of which nothing else is known.
    package let data: Int
    private let folder: Int
    private let symlink: Int

    /// - Parameter database: an empty one leaves the declared types, by their extensions.
    package init(_ database: MimeDatabase) {
        var book = TypeBook(database)
        var patterns: [(NameTable.Pattern, isDeclared: Bool)] = []
        let declaredCount = book.declarations.count
        for pattern in database.patterns {
            let suffix = Self.suffix(pattern.glob)
            let number = book.number(mime: pattern.mime, extension: suffix)
            if let suffix { book.addExtension(suffix, to: number) }
            patterns.append(
                (
                    NameTable.Pattern(
                        glob: pattern.glob, isCaseSensitive: pattern.isCaseSensitive, weight: pattern.weight,
                        value: number),
                    number < declaredCount
                        && suffix.map { TypeDeclaration.declared[number].extensions.contains($0) } ?? false
                ))
        }
        // Where several types have one pattern and one weight, a declared one that has the extension comes first.
        let ordered = patterns.enumerated().sorted { left, right in
            (-left.element.0.weight, left.element.isDeclared ? 0 : 1, left.offset)
                < (-right.element.0.weight, right.element.isDeclared ? 0 : 1, right.offset)
        }.map(\.element.0)
        names = NameTable(ordered + Self.declaredPatterns(besides: ordered))
        let sections = database.magic.isEmpty ? BuiltInMagic.sections : database.magic
        magic = sections.map { ($0, book.number(mime: $0.mime)) }
        self.database = database
        declarations = book.declarations
        numbers = book.numbers
        data = numbers["public.data"] ?? 0
        folder = numbers["public.folder"] ?? 0
        symlink = numbers["public.symlink"] ?? 0
        packages = Self.packages(declarations, numbers)
    }

    /// `txt` of `*.txt`; nil for any other pattern.
    private static func suffix(_ glob: [UInt8]) -> String? {
        guard glob.starts(with: "*.".utf8) else { return nil }
        let suffix = glob.dropFirst(2)
        guard !suffix.isEmpty, !suffix.contains(where: { "*?[\\".utf8.contains($0) }) else { return nil }
        return String(validating: suffix, as: UTF8.self)?.lowercased()
    }

    /// The declared types' extensions that the database says nothing of.
    private static func declaredPatterns(besides known: [NameTable.Pattern]) -> [NameTable.Pattern] {
        let covered = Set(known.map(\.glob))
        return TypeDeclaration.declared.enumerated().flatMap { number, declaration in
            declaration.extensions.filter { _ in !declaration.isDirectoryOnly }.map { suffix in
                NameTable.Pattern(glob: Array("*.\(suffix)".utf8), weight: 40, value: number)
            }
        }.filter { !covered.contains($0.glob) }
    }

    private static func packages(_ declarations: [TypeDeclaration], _ numbers: [String: Int]) -> [String: Int] {
        var found: [String: Int] = [:]
        for (number, declaration) in declarations.enumerated() where declaration.isDirectoryOnly {
            for suffix in declaration.extensions where found[suffix] == nil { found[suffix] = number }
        }
        return found
    }

    // MARK: Of items

    /// What an item is by kind and name; nil for a file whose name says nothing.
    ///
    /// Takes well under a microsecond for a file; allocates nothing.
    package func number(kind: FileKind, name: [UInt8], packages: PackageNames) -> Int? {
        switch kind {
        case .file: names.value(of: name)
        case .directory: directory(name, packages)
        case .symlink: symlink
        case .fifo, .socket, .characterDevice, .blockDevice: numbers["public.item"]
        }
    }

    private func directory(_ name: [UInt8], _ packages: PackageNames) -> Int {
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > 0 else { return folder }
        let suffix = String(decoding: name[(dot + 1)...].map(\.asciiLowercased), as: UTF8.self)
        if let number = self.packages[suffix] { return number }
        let isPackage = packages.contains(RelativePath(unchecked: name))
        return isPackage ? numbers["com.apple.package"] ?? folder : folder
    }

    /// What a file is by its content, where its name says nothing; `data` where that says nothing either.
    ///
    /// - Parameters:
    ///   - content: what it begins with; more than `contentReach` bytes are not looked at.
    ///   - isWhole: that is all of it.
    package func number(content: [UInt8], isWhole: Bool) -> Int {
        let text = TextDetection.find(content, isWhole: isWhole)
        let plain = Self.textTypes[text].flatMap { numbers[$0] }
        // What rules say of text in general is known better.
        if let found = byRules(content), declarations[found].identifier != "public.plain-text" { return found }
        return plain ?? data
    }

    private static let textTypes: [TextDetection.Finding: String] = [
        .utf8: "public.utf8-plain-text", .other: "public.plain-text", .utf16: "public.utf16-plain-text",
    ]

    /// How many bytes of a file's beginning decide.
    package static let contentReach = MagicReader.reach
    /// Bytes compared for one file: rules of a hostile database end here.
    private static let mostComparisons = 4_000_000

    private func byRules(_ content: [UInt8]) -> Int? {
        guard !content.isEmpty else { return nil }
        var budget = Self.mostComparisons
        return magic.first { $0.section.matches(content, &budget) }?.number
    }

    // MARK: Of types

    /// Another where names or types are others: the database, or the declared types.
    package var signature: String {
        String(database.signature ^ FNV1a.hash(DeclaredTypes.table.utf8), radix: 16)
    }

    /// How many types have a number.
    package var count: Int { declarations.count }

    /// The type of a number, 0 ..< `count`.
    package func type(_ number: Int) -> ContentType { ContentType(unchecked: declarations[number].identifier) }

    /// What is declared of a type; nil for one that is not known here.
    package func declaration(_ type: ContentType) -> TypeDeclaration? {
        if let number = numbers[type.identifier.lowercased()] { return declarations[number] }
        // Of another device's database, or an earlier one of this device.
        guard let mime = DynamicType.mime(type.identifier) else { return nil }
        var book = TypeBook(database)
        let number = book.number(mime: mime)
        return book.declarations[number]
    }

    /// The type itself and all that it conforms to, nearer ones first.
    package func tree(_ type: ContentType) -> [ContentType] {
        if let known = trees.withLock({ $0[type.identifier] }) { return known }
        let tree = findTree(type)
        trees.withLock { if $0.count < Self.mostKnown { $0[type.identifier] = tree } }
        return tree
    }

    private func findTree(_ type: ContentType) -> [ContentType] {
        var found = [type]
        var index = 0
        while index < found.count, found.count < 1000 {
            for identifier in declaration(found[index])?.supertypes ?? [] {
                let supertype = ContentType(unchecked: identifier)
                if !found.contains(supertype) { found.append(supertype) }
            }
            index += 1
        }
        return found
    }

    /// The type of files with an extension (without dot; upper and lower case are alike).
    package func type(extension suffix: String) -> ContentType? {
        names.value(of: Array("x.\(suffix)".utf8)).map(type)
    }

    /// The type of a MIME type.
    package func type(mime: String) -> ContentType? {
        guard let mime = MimeDatabaseReader.mime(Array(mime.utf8)) else { return nil }
        var book = TypeBook(database)
        let number = book.number(mime: mime)
        return ContentType(unchecked: book.declarations[number].identifier)
    }
}

extension TypeDeclaration {
    /// Directories alone are of this type: a bundle, a package.
    fileprivate var isDirectoryOnly: Bool {
        supertypes.contains { ["com.apple.package", "com.apple.bundle", "public.directory"].contains($0) }
    }
}
