package import QuireCore

/// How the text of a document is found, by its type.
package enum ContentForm: Sendable, Hashable {
    /// It is text.
    case plain
    case html, xml
    case rich
    /// By poppler's `pdftotext`.
    case pdf
    /// In files of an archive, taken out by `unzip`: patterns of their paths.
    case archive([String], isHTML: Bool)

    /// Nil for types whose documents have no text that is found here.
    package init?(_ type: ContentType) {
        let tree = Set(TypeCatalog.system.tree(type).map(\.identifier))
        if let archive = Self.archives.first(where: { tree.contains($0.type) }) {
            self = .archive(archive.members, isHTML: archive.isHTML)
        } else if tree.contains("com.adobe.pdf") {
            self = .pdf
        } else if tree.contains("public.rtf") {
            self = .rich
        } else if !tree.isDisjoint(with: ["public.html", "public.xhtml"]) {
            self = .html
        } else if tree.contains("public.xml") {
            self = .xml
        } else if tree.contains("public.text") {
            self = .plain
        } else {
            return nil
        }
    }

    /// The program without which nothing is found, and Debian's package that has it.
    package var program: (name: String, package: String)? {
        switch self {
        case .plain, .html, .xml, .rich: nil
        case .pdf: ("pdftotext", "poppler-utils")
        case .archive: ("unzip", "unzip")
        }
    }

    private static let archives: [(type: String, members: [String], isHTML: Bool)] = [
        ("org.oasis-open.opendocument", ["content.xml"], false),
        ("org.openxmlformats.wordprocessingml.document", ["word/document.xml", "word/footnotes.xml"], false),
        ("org.openxmlformats.wordprocessingml.template", ["word/document.xml"], false),
        ("org.openxmlformats.wordprocessingml.document.macroenabled", ["word/document.xml"], false),
        ("org.openxmlformats.spreadsheetml.sheet", ["xl/sharedStrings.xml"], false),
        ("org.openxmlformats.spreadsheetml.template", ["xl/sharedStrings.xml"], false),
        ("org.openxmlformats.spreadsheetml.sheet.macroenabled", ["xl/sharedStrings.xml"], false),
        ("org.openxmlformats.presentationml.presentation", ["ppt/slides/slide*.xml"], false),
        ("org.openxmlformats.presentationml.slideshow", ["ppt/slides/slide*.xml"], false),
        ("org.openxmlformats.presentationml.template", ["ppt/slides/slide*.xml"], false),
        ("org.idpf.epub-container", ["*.xhtml", "*.html", "*.htm"], true),
    ]
}
