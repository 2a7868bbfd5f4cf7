import Testing

@testable import QuireCore

@Suite("Content types") struct ContentTypeTests {
    @Test("what declared types conform to is declared, and none conforms to itself by way of others")
    func declarations() {
        let declared = TypeDeclaration.declared
        let identifiers = Set(declared.map(\.identifier))
        #expect(declared.count > 200 && identifiers.count == declared.count)
        for declaration in declared {
            #expect(ContentType(declaration.identifier) != nil)
            #expect(!declaration.name.isEmpty, "\(declaration.identifier)")
            for supertype in declaration.supertypes {
                #expect(identifiers.contains(supertype), "\(declaration.identifier) conforms to \(supertype)")
                #expect(!Self.bare.tree(supertype).contains(declaration.identifier), "\(declaration.identifier)")
            }
        }
    }

    /// No MIME database.
    static let bare = TypeCatalog(MimeDatabase())

    @Test("the types that a picker asks for comprise what they should")
    func pickerTypes() {
        let catalog = Self.bare
        #expect(catalog.tree("public.utf8-plain-text").contains("public.plain-text"))
        #expect(catalog.tree("public.plain-text").contains("public.text"))
        #expect(catalog.tree("public.rtf").contains("public.text"))
        #expect(!catalog.tree("public.rtf").contains("public.plain-text"))
        #expect(catalog.tree("public.png").contains("public.image"))
        #expect(catalog.tree("com.adobe.pdf").contains("public.composite-content"))
        #expect(
            catalog.tree("public.jpeg") == [
                "public.jpeg", "public.image", "public.data", "public.content", "public.item",
            ])
        for type in [ContentType.utf8PlainText, .plainText, .rtf, .png, .text, .pdf, .image] {
            #expect(catalog.tree(type).contains(.content), "\(type)")
        }
    }

    @Test(
        "without a MIME database the commonest extensions are known",
        arguments: [
            ("a.txt", "public.plain-text"), ("A.PNG", "public.png"), ("a.tar", "public.tar-archive"),
            ("a.jpeg", "public.jpeg"), ("a.docx", "org.openxmlformats.wordprocessingml.document"),
            ("a.swift", "public.swift-source"), ("a.b.md", "net.daringfireball.markdown"),
            (".txt", "public.plain-text"),
            ("a.pages", "com.apple.iwork.pages.sffpages"),
        ])
    func bareNames(name: String, identifier: String) { #expect(Self.bare.identifier(name) == identifier) }

    @Test("names that say nothing have no type", arguments: ["a", "txt", "a.", "a.unknown", "", ".", "a.txt "])
    func unknownNames(name: String) { #expect(Self.bare.identifier(name) == nil) }

    @Test(
        "directories are folders, packages by their extension, or packages of a type",
        arguments: [
            ("a", "public.folder"), ("a.txt", "public.folder"), ("A.App", "com.apple.application-bundle"),
            ("a.pages", "com.apple.iwork.pages.pages"), ("a.quirepackage", "com.apple.package"),
            (".rtfd", "public.folder"), ("a.rtfd", "com.apple.rtfd"),
        ])
    func directories(name: String, identifier: String) {
        #expect(Self.bare.identifier(name, .directory) == identifier)
    }

    @Test("symbolic links and devices have types of their own")
    func otherKinds() {
        #expect(Self.bare.identifier("a.txt", .symlink) == "public.symlink")
        #expect(Self.bare.identifier("a.txt", .fifo) == "public.item")
    }

    @Test("identifiers are compared without regard to case, and are letters, digits, -, . and _")
    func identifiers() {
        #expect(ContentType("Public.PNG") == ContentType.png)
        #expect(Set([ContentType("Public.PNG"), ContentType.png]).count == 1)
        for bad in ["", "a/b", "a b", "ä", "a\0"] { #expect(ContentType(bad) == nil) }
        #expect(Self.bare.declaration(ContentType(unchecked: "PUBLIC.png"))?.mimeTypes == ["image/png"])
    }

    @Test(
        "every MIME type has an identifier that it can be read from",
        arguments: ["text/x-ldif", "application/vnd.a.b+xml", "x.y/z", "a/b/c", "a/%_ü", "application/vnd.rn-x_y"])
    func dynamic(mime: String) {
        let identifier = DynamicType.identifier(mime)
        #expect(DynamicType.mime(identifier) == mime)
        #expect(ContentType(identifier) != nil)
    }

    @Test(
        "what is no dynamic identifier is none",
        arguments: ["public.png", "dyn.mime.text", "dyn.mime.a._", "dyn.mime.a._zz"])
    func notDynamic(identifier: String) { #expect(DynamicType.mime(identifier) == nil) }

    @Test("a dynamic type of a database that is not here conforms to what its MIME type says")
    func foreignDynamic() {
        #expect(Self.bare.tree(DynamicType.identifier("text/x-unheard")).contains("public.plain-text"))
        #expect(Self.bare.tree(DynamicType.identifier("image/x-unheard")).contains("public.image"))
        #expect(Self.bare.tree(DynamicType.identifier("application/x-unheard+json")).contains("public.json"))
        #expect(Self.bare.tree(DynamicType.identifier("application/x-unheard")).contains("public.data"))
        #expect(Self.bare.tree("com.example.unheard") == ["com.example.unheard"])
    }
}
