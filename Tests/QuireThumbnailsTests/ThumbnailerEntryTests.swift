import Testing

@testable import QuireThumbnails

@Suite("Thumbnailer entries")
struct ThumbnailerEntryTests {
    @Test("An entry is read as installed programs write it")
    func plain() throws {
        let entry = try #require(
            ThumbnailerEntry(
                """
                # A comment
                [Thumbnailer Entry]
                TryExec=evince-thumbnailer
                Exec = evince-thumbnailer -s %s %u %o
                MimeType=application/pdf;image/x-eps; ;
                [Another Group]
                Exec=something else
                """))
        #expect(entry.tryExec == "evince-thumbnailer")
        #expect(entry.mimeTypes == ["application/pdf", "image/x-eps"])
        #expect(
            entry.arguments(input: "/a b", uri: "file:///a%20b", output: "/o.png", size: 256)
                == ["evince-thumbnailer", "-s", "256", "file:///a%20b", "/o.png"])
    }

    @Test("Quotes hold words together, codes stand in them, and a document's name is never read as either")
    func quotes() throws {
        let entry = try #require(
            ThumbnailerEntry("[Thumbnailer Entry]\nExec=prog \"a \\\"b\\\" %i\" %% %x%o \"\"\nMimeType=a/b"))
        #expect(
            entry.arguments(input: "\" %o; rm", uri: "u", output: "O", size: 1)
                == ["prog", "a \"b\" \" %o; rm", "%", "O", ""])
    }

    @Test(
        "What is no entry is none",
        arguments: [
            "", "[Thumbnailer Entry]\nMimeType=a/b", "[Thumbnailer Entry]\nExec=prog", "Exec=prog\nMimeType=a/b",
            "[Thumbnailer Entry]\nExec=prog \"open\nMimeType=a/b", "[Thumbnailer Entry]\nExec=\nMimeType=a/b",
        ])
    func none(text: String) { #expect(ThumbnailerEntry(text) == nil) }

    @Test("A page of text is well-formed whatever the text holds, and bytes that are none give no page")
    func page() throws {
        let drawing = try #require(TextPage.drawing(of: Array("a < b && c > d\t\u{1B}[0m \u{FFFE}é".utf8)))
        #expect(drawing.contains("a &lt; b &amp;&amp; c &gt; d    \u{FFFD}[0m \u{FFFD}é"))
        // Cut off within a letter.
        #expect(TextPage.drawing(of: Array("aé".utf8).dropLast()) != nil)
        #expect(TextPage.drawing(of: [0x61, 0, 0x62]) == nil)
        #expect(TextPage.drawing(of: [0xFF, 0xFE, 0x61, 0x62, 0x63, 0x64]) == nil)
    }
}
