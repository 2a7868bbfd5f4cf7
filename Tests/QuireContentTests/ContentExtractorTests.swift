import Foundation
import QuireConfinement
import QuireCore
import QuireTestSupport
import Testing

@testable import QuireContent

/// Real documents, made by the tests, and programs that do their worst.
@Suite("Words of documents by confined programs", .timeLimit(.minutes(2)))
struct ContentExtractorTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func extractor(path: [String] = InstalledProgram.path, seconds: Int = 20) -> ContentExtractor {
        var extractor = ContentExtractor(
            directories: WorkDirectory(staging: directory.path, purpose: "test", name: UUID().uuidString), path: path)
        extractor.limits.time = .seconds(seconds)
        return extractor
    }

    /// Apart from the threads that all tests share.
    private static let pool = BackgroundPool(label: "content", width: 4, niceness: 0)

    private func text(_ file: String, _ suffix: String, _ extractor: ContentExtractor? = nil) async throws -> String? {
        let extractor = extractor ?? self.extractor()
        defer { extractor.directories.sweep() }
        let type = try #require(ContentType(filenameExtension: suffix))
        let form = try #require(extractor.form(of: type))
        return try await Self.pool.run { () throws(QuireError) in try extractor.text(ofCopy: file, form) }
    }

    /// An archive of the files given by path and text, by Python.
    private func archive(_ members: [(String, String)]) async throws -> String {
        let path = "\(directory.path)/\(UUID().uuidString)"
        var script = "import zipfile\nwith zipfile.ZipFile('\(path)', 'w', zipfile.ZIP_DEFLATED) as z:\n"
        for (name, text) in members { script += "    z.writestr('''\(name)''', '''\(text)''')\n" }
        try await run("/usr/bin/python3", ["-c", script])
        return path
    }

    private func run(_ program: String, _ arguments: [String]) async throws {
        let status = try await Self.pool.run { () throws in
            let process = try Process.run(URL(filePath: program), arguments: arguments)
            process.waitUntilExit()
            return process.terminationStatus
        }
        #expect(status == 0)
    }

    private static let paper = """
        %PDF-1.4
        1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
        2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
        3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 420]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj
        4 0 obj<</Length 61>>stream
        BT /F 28 Tf 40 340 Td (Quarterly) Tj 0 -40 Td (figures) Tj ET
        endstream endobj
        5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Times-Roman>>endobj
        trailer<</Root 1 0 R>>
        """

    @Test("A PDF document")
    func pdf() async throws {
        try directory.write("paper", Self.paper)
        let found = try #require(try await text("\(directory.path)/paper", "pdf"))
        #expect(found.split(whereSeparator: \.isWhitespace) == ["Quarterly", "figures"])
    }

    @Test("Documents of LibreOffice and Office")
    func office() async throws {
        let odt = try await archive([
            ("mimetype", "application/vnd.oasis.opendocument.text"), ("styles.xml", "<x>no</x>"),
            (
                "content.xml",
                "<office:text><text:h>Minutes</text:h><text:p>of the <text:span>meet</text:span>ing</text:p></office:text>"
            ),
        ])
        #expect(
            try await text(odt, "odt")?.split(whereSeparator: \.isWhitespace) == ["Minutes", "of", "the", "meeting"])
        let docx = try await archive([
            ("word/styles.xml", "<x>no</x>"),
            (
                "word/document.xml",
                "<w:p><w:r><w:t>Let</w:t></w:r><w:r><w:t>ter</w:t></w:r></w:p><w:p><w:t>body</w:t></w:p>"
            ),
        ])
        #expect(try await text(docx, "docx")?.split(whereSeparator: \.isWhitespace) == ["Letter", "body"])
        let xlsx = try await archive([
            ("xl/sharedStrings.xml", "<sst><si><t>Income</t></si><si><t>Costs</t></si></sst>")
        ])
        #expect(try await text(xlsx, "xlsx")?.split(whereSeparator: \.isWhitespace) == ["Income", "Costs"])
        let slides = [(1, "first"), (2, "second"), (10, "tenth")].map { number, word in
            ("ppt/slides/slide\(number).xml", "<a:p><a:r><a:t>\(word)</a:t></a:r></a:p>")
        }
        #expect(
            try await text(archive(slides), "pptx")?.split(whereSeparator: \.isWhitespace) == [
                "first", "second", "tenth",
            ])
        let epub = try await archive([("OEBPS/a.xhtml", "<p>Chap<i>ter</i></p><p>one</p>")])
        #expect(try await text(epub, "epub")?.split(whereSeparator: \.isWhitespace) == ["Chapter", "one"])
    }

    @Test("What is no such document has no words, and leaves nothing")
    func damaged() async throws {
        for suffix in ["pdf", "odt", "docx"] {
            try directory.write("bad", "this is none")
            #expect(try await text("\(directory.path)/bad", suffix) == nil)
        }
        #expect(try await text(archive([("other.xml", "<x/>")]), "odt") == nil)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: directory.path).allSatisfy { !$0.hasPrefix("confined") }
        )
    }

    @Test("An archive of a link leads nowhere")
    func links() async throws {
        let path = "\(directory.path)/link.odt"
        try directory.write("secret", "secret")
        try await run(
            "/usr/bin/python3",
            [
                "-c",
                """
                import zipfile
                with zipfile.ZipFile('\(path)', 'w') as z:
                    link = zipfile.ZipInfo('content.xml')
                    link.create_system, link.external_attr = 3, 0o120777 << 16
                    z.writestr(link, '\(directory.path)/secret')
                """,
            ])
        #expect(try await text(path, "odt")?.contains("secret") != true)
    }

    @Test("An archive of a gigabyte of nothing meets the limit of a file")
    func bomb() async throws {
        let path = "\(directory.path)/bomb"
        try await run(
            "/usr/bin/python3",
            [
                "-c",
                """
                import zipfile
                with zipfile.ZipFile('\(path)', 'w', zipfile.ZIP_DEFLATED) as z:
                    with z.open('content.xml', 'w', force_zip64=True) as f:
                        for _ in range(1024): f.write(b'<p>a</p>' * 131072)
                """,
            ])
        #expect(try await text(path, "odt") == nil)
    }

    @Test(
        "Programs that hang, crash, eat memory or write without end: no words",
        arguments: [
            "sleep 60", "kill -SEGV $$", "exec /usr/bin/python3 -c 'x = [bytearray(1 << 24) for _ in range(1 << 12)]'",
            "head -c 1G /dev/zero > \"${@: -1}\"", "ln -s /etc/passwd \"${@: -1}\"", "mkfifo \"${@: -1}\"",
        ])
    func worst(script: String) async throws {
        _ = try directory.script("pdftotext", script)
        try directory.write("paper", Self.paper)
        let start = ContinuousClock.now
        #expect(try await text("\(directory.path)/paper", "pdf", extractor(path: [directory.path], seconds: 2)) == nil)
        #expect(ContinuousClock.now - start < .seconds(20))
    }

    @Test("Without a program its documents have no form, and the package is named")
    func missing() throws {
        let extractor = extractor(path: [directory.path])
        #expect(extractor.form(of: .pdf) == nil)
        #expect(extractor.form(of: .plainText) == .plain)
        #expect(extractor.missing.map(\.package) == ["poppler-utils", "unzip"])
        #expect(self.extractor().missing.isEmpty)
    }

    @Test("Of a long text the beginning is kept, cut after a character")
    func bounds() throws {
        let limit = Int(ContentLimits.text.bytes)
        let bytes = Array(String(repeating: "é", count: limit).utf8)
        let kept = try #require(extractor().text(of: bytes, .plain))
        #expect(kept.utf8.count == limit && kept.last == "é")
        #expect(extractor().text(of: [0, 1, 2], .plain) == nil)
    }
}
