import QuireCore
import Testing

@testable import QuireContent

@Suite("Text of documents")
struct TextFormTests {
    @Test("Bytes are text in UTF-8, UTF-16 by their mark, else ISO 8859-1; with NULs they are none")
    func encodings() {
        #expect(TextDecoder.text(Array("Zürich 東京".utf8), isWhole: true) == "Zürich 東京")
        #expect(TextDecoder.text([0xEF, 0xBB, 0xBF, 0x61], isWhole: true) == "a")
        #expect(TextDecoder.text([0xFF, 0xFE, 0x61, 0, 0xE9, 0], isWhole: true) == "aé")
        #expect(TextDecoder.text([0xFE, 0xFF, 0, 0x61, 0xD8, 0x3D, 0xDE, 0], isWhole: true) == "a😀")
        #expect(TextDecoder.text([0x5A, 0xFC, 0x72, 0x69, 0x63, 0x68], isWhole: true) == "Zürich")
        #expect(TextDecoder.text([0x61, 0, 0x62], isWhole: true) == nil)
        #expect(TextDecoder.text([], isWhole: true) == "")
    }

    @Test("A character that is cut off at the end costs no other", arguments: 1...3)
    func cut(bytes: Int) {
        let cut = Array("Zürich 😀".utf8.dropLast(bytes))
        #expect(TextDecoder.text(cut, isWhole: false) == "Zürich ")
        #expect(TextDecoder.text(cut, isWhole: true)?.hasPrefix("ZÃ") == true)
        #expect(TextDecoder.text([0x63, 0xE9], isWhole: true) == "cé")
    }

    @Test("HTML: tags of lines do not part words, others do; scripts, styles and comments are no text")
    func html() {
        let text = MarkupText.text(
            """
            <!DOCTYPE html><title>A &amp; B</title><style>p { color: red }</style><SCRIPT>if (a < b) hidden()</Script >
            <p title="a > b">im<b>port</b>ant<br>caf&eacute; &#x20AC; &#8364; &unknown; <!-- secret > -->5 < 6</p>
            """, .html, limit: 10_000)
        let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
        #expect(
            words == ["A", "&", "B", "important", "café", "€", "€", "&unknown;", "5", "<", "6"])
    }

    @Test("Office XML: runs are put together, paragraphs, tabs and cells part words")
    func office() {
        let text = MarkupText.text(
            """
            <?xml version="1.0"?><w:p><w:r><w:t>quar</w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>terly</w:t></w:r>\
            <w:tab/><w:t>report</w:t></w:p><w:p><w:t>next</w:t></w:p><text:p>od<text:span>t</text:span><text:s/>word</text:p>
            """, .office, limit: 10_000)
        #expect(
            text.split(separator: " ").map { $0.filter { !$0.isNewline } } == [
                "quarterly", "report", "next", "odt", "word",
            ])
    }

    @Test("XML: each element is for itself; character data is text")
    func xml() {
        let text = MarkupText.text("<a><b>one</b><b>two</b><![CDATA[<three>]]>four</a>", .xml, limit: 10_000)
        #expect(text.split(separator: " ") == ["one", "two", "<three>four"])
        #expect(MarkupText.text("<![CDATA[open", .xml, limit: 10) == "open")
        #expect(MarkupText.text("<a href='", .xml, limit: 10).allSatisfy { $0 == " " })
    }

    @Test("RTF: control words and tables of fonts are no text; escapes are resolved")
    func rich() {
        let source = #"""
            {\rtf1\ansi{\fonttbl{\f0 Helvetica;}}{\*\generator Writer;}{\info{\author Nobody}}\pard Z\'fcrich
             \b bold\b0\par caf\u233?s \{braces\}{\pict 00ff}\tab end}
            """#
        let text = RichText.text(Array(source.utf8), limit: 10_000)
        #expect(text.split(separator: " ") == ["Zürich", "bold", "cafés", "{braces}", "end"])
    }

    @Test("Damaged markup and RTF end in bounded time, without a trap")
    func damaged() {
        var random = SystemRandomNumberGenerator()
        let pieces = [
            "<", ">", "</", "<!--", "-->", "<![CDATA[", "]]>", "&", ";", "&#", "&#x110000;", "{", "}", "\\",
            "\\'", "\\u-1", "\\bin9999999999999999999", "\\bin9223372036854775807 ",
            "\\uc-3", "\\bin99 ", "\"", "'", "é", "<script>", "</", "a",
        ]
        for _ in 0..<3000 {
            let text = (0..<20).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            for dialect in [MarkupText.Dialect.html, .xml, .office] {
                #expect(MarkupText.text(text, dialect, limit: 50).utf8.count < 70)
            }
            #expect(RichText.text(Array(text.utf8), limit: 50).utf8.count < 70)
        }
    }

    @Test(
        "Types have forms",
        arguments: [
            ("txt", ContentForm.plain), ("swift", .plain), ("html", .html), ("svg", .xml), ("rtf", .rich),
            ("pdf", .pdf),
        ])
    func forms(suffix: String, form: ContentForm) throws {
        #expect(ContentForm(try #require(ContentType(filenameExtension: suffix))) == form)
    }

    @Test(
        "Office documents are archives; pictures have no text",
        arguments: ["odt", "ods", "odp", "docx", "xlsx", "pptx", "epub"])
    func archives(suffix: String) throws {
        guard case .archive? = ContentForm(try #require(ContentType(filenameExtension: suffix))) else {
            Issue.record("\(suffix) is no archive")
            return
        }
        #expect(ContentForm(.png) == nil && ContentForm(.folder) == nil)
    }
}
