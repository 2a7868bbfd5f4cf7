/// What a document's content is: a uniform type, by its identifier (`public.png`), as `UTType` of Apple's systems.
///
/// Types conform to others: `public.png` to `public.image`, that to `public.data` and `public.content`. Which type a name has,
/// and what is known beyond the declared types, comes from the MIME database of the system (shared-mime-info); a MIME type
/// that nothing is declared for has an identifier of the form `dyn.mime.text.x-ldif`. From any thread; the first question
/// reads the database.
public struct ContentType: Sendable, Hashable {
    /// As it was given; compare types, not identifiers.
    public let identifier: String

    /// - Parameter identifier: letters and digits of ASCII, `-`, `.` and `_`; nil for anything else. The type need not be known.
    public init?(_ identifier: String) {
        let isValid = identifier.utf8.allSatisfy { byte in
            (byte | 0x20) >= UInt8(ascii: "a") && (byte | 0x20) <= UInt8(ascii: "z")
                || byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") || "-._".utf8.contains(byte)
        }
        guard isValid, !identifier.isEmpty, identifier.utf8.count <= 1024 else { return nil }
        self.identifier = identifier
    }

    package init(unchecked identifier: String) { self.identifier = identifier }

    /// The type of files with this extension, given without a dot; upper and lower case are alike. Nil where none is known.
    public init?(filenameExtension: String) {
        guard let type = TypeCatalog.system.type(extension: filenameExtension) else { return nil }
        self = type
    }

    /// The type of a MIME type, which need not be known; nil for what is none.
    public init?(mimeType: String) {
        guard let type = TypeCatalog.system.type(mime: mimeType) else { return nil }
        self = type
    }

    /// By identifier; upper and lower case are alike.
    public static func == (left: ContentType, right: ContentType) -> Bool {
        left.identifier == right.identifier || left.identifier.lowercased() == right.identifier.lowercased()
    }

    /// As `==`.
    public func hash(into hasher: inout Hasher) { hasher.combine(identifier.lowercased()) }
}

extension ContentType {
    /// Whether it is `type`, or one that `type` comprises.
    public func conforms(to type: ContentType) -> Bool { self == type || TypeCatalog.system.tree(self).contains(type) }

    /// All that it conforms to, without itself.
    public var supertypes: Set<ContentType> { Set(TypeCatalog.system.tree(self).dropFirst()) }

    /// Without dot; nil where files of this type have none.
    public var preferredFilenameExtension: String? { TypeCatalog.system.declaration(self)?.extensions.first }

    /// In lower case; nil where there is none.
    public var preferredMIMEType: String? { TypeCatalog.system.declaration(self)?.mimeTypes.first }

    /// What people call it, in English; nil for a type that is not known.
    public var localizedDescription: String? { TypeCatalog.system.name(of: self) }

    /// Whether it stands for a MIME type that nothing is declared for.
    public var isDynamic: Bool { identifier.hasPrefix("dyn.") }
}

extension ContentType: CustomStringConvertible {
    /// The identifier.
    public var description: String { identifier }
}

extension ContentType {
    /// Anything in a file system.
    public static let item = ContentType(unchecked: "public.item")
    /// Anything that people look at.
    public static let content = ContentType(unchecked: "public.content")
    /// Anything that is bytes.
    public static let data = ContentType(unchecked: "public.data")
    /// Anything with characters.
    public static let text = ContentType(unchecked: "public.text")
    /// Text without markup, of whichever encoding.
    public static let plainText = ContentType(unchecked: "public.plain-text")
    /// Text without markup, in UTF-8.
    public static let utf8PlainText = ContentType(unchecked: "public.utf8-plain-text")
    /// Text with Microsoft's markup.
    public static let rtf = ContentType(unchecked: "public.rtf")
    /// Text with HTML's markup.
    public static let html = ContentType(unchecked: "public.html")
    /// Any picture.
    public static let image = ContentType(unchecked: "public.image")
    /// A PNG picture.
    public static let png = ContentType(unchecked: "public.png")
    /// A JPEG picture.
    public static let jpeg = ContentType(unchecked: "public.jpeg")
    /// A PDF document.
    public static let pdf = ContentType(unchecked: "com.adobe.pdf")
    /// Anything to hear.
    public static let audio = ContentType(unchecked: "public.audio")
    /// Anything to see that moves.
    public static let movie = ContentType(unchecked: "public.movie")
    /// Anything with files in it.
    public static let archive = ContentType(unchecked: "public.archive")
    /// Any directory.
    public static let directory = ContentType(unchecked: "public.directory")
    /// A directory that people look into.
    public static let folder = ContentType(unchecked: "public.folder")
    /// A directory that is one document.
    public static let package = ContentType(unchecked: "com.apple.package")
    /// A symbolic link.
    public static let symbolicLink = ContentType(unchecked: "public.symlink")
}
