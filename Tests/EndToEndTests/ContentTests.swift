import Foundation
import Testing

extension EndToEnd {
    /// Documents found by their words.
    @Suite("Content", .timeLimit(.minutes(5)))
    struct ContentTests {
        @Test("A document is found by its words, and after a change by the new ones only, until it is gone")
        func life() async throws {
            try await Workspace.use { space in
                let drive = try await searched(space)
                try await drive.sh("mkdir d; echo 'The quick brown fox' > d/a.txt; echo 'lazy dogs' > d/b.txt")
                try await found(drive, #"kMDItemTextContent == "QUICK brown"cd"#, ["d/a.txt"])
                try await found(drive, "content == dog*", ["d/b.txt"])
                try await drive.sh("echo 'a slow turtle' > d/a.txt")
                try await found(drive, "content == turtle", ["d/a.txt"])
                try await found(drive, "content == quick", [])
                try await drive.sh("mv d/a.txt d/.new; mv d e; mv e/.new e/c.txt")
                try await found(drive, #"content == turtle && name == "c*""#, ["e/c.txt"])
                try await found(drive, #"kind == file && content != turtle"#, ["e/b.txt"])
                try await drive.sh("rm e/c.txt")
                try await found(drive, "content == turtle", [])
            }
        }

        @Test("PDF and office documents, HTML and text in other encodings")
        func kinds() async throws {
            try await Workspace.use { space in
                let drive = try await searched(space)
                try await space.sh(
                    """
                    cat > one/paper.pdf <<'END'
                    %PDF-1.4
                    1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
                    2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
                    3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 420]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj
                    4 0 obj<</Length 44>>stream
                    BT /F 28 Tf 40 340 Td (needle one) Tj ET
                    endstream endobj
                    5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Times-Roman>>endobj
                    trailer<</Root 1 0 R>>
                    END
                    /usr/bin/python3 - <<'END'
                    import zipfile
                    with zipfile.ZipFile("one/letter.odt", "w") as package:
                        package.writestr("mimetype", "application/vnd.oasis.opendocument.text")
                        package.writestr("content.xml", "<text:p>nee<text:span>dle</text:span> two</text:p>")
                    with zipfile.ZipFile("one/report.docx", "w") as package:
                        package.writestr("word/document.xml", "<w:p><w:r><w:t>need</w:t></w:r><w:r><w:t>le</w:t></w:r></w:p>")
                    with zipfile.ZipFile("one/bad.odt", "w") as package: package.writestr("other.xml", "needle")
                    END
                    echo '<p>the <b>need</b>le</p><script>haystack</script>' > one/page.html
                    printf 'needle caf\\351' > one/latin.txt; printf 'needle' | iconv -t UTF-16 > one/wide.txt
                    printf 'needle without an ending' > one/plain; head -c 100000 /dev/urandom > one/noise.txt
                    """)
                let expected = [
                    "latin.txt", "letter.odt", "page.html", "paper.pdf", "plain", "report.docx", "wide.txt",
                ]
                try await found(drive, "content == needle", expected)
                try await found(drive, "content == haystack", [])
                try await found(drive, "content == CAFÉ", ["latin.txt"])
            }
        }

        @Test("Words outlive eviction and the daemon; what changed without it is found; switched off, nothing is left")
        func restart() async throws {
            try await Workspace.use { space in
                let drive = try await searched(space)
                try await drive.sh("echo 'alpha' > a.txt; echo 'beta' > b.txt; echo 'gamma' > c.txt")
                try await found(drive, "content == gamma", ["c.txt"])
                try await drive.sync()
                try await drive.quire("evict", "a.txt").require(0)
                try await found(drive, "content == alpha && dataless == true", ["a.txt"])
                try await drive.unmount()
                try await space.sh("echo 'delta' > \(drive.store)/b.txt; rm \(drive.store)/c.txt")
                // With no daemon, what is known is told.
                #expect(try await drive.quire("find", "content == alpha").require(0).output == "a.txt\n")
                try await drive.mount()
                try await found(drive, "content == delta", ["b.txt"])
                try await found(drive, "content == gamma || content == beta", [])
                try await found(drive, "content == alpha", ["a.txt"])
                #expect(try await drive.sh("getfattr --only-values -n user.quire.state a.txt") == "dataless")
                try drive.crash()
                try await drive.mount()
                try await drive.sh("echo 'epsilon' > d.txt")
                try await found(drive, "content == epsilon", ["d.txt"])
                try await found(drive, "content == delta", ["b.txt"])
                try await drive.unmount()
                try await space.sh("sed -i 's/^content = true/content = false/' \(drive.home)/config.toml")
                try await drive.mount()
                #expect(try await space.sh("ls \(drive.home) | grep content || true") == "")
            }
        }

        @Test("A running query is told when words come and go")
        func live() async throws {
            try await Workspace.use { space in
                let drive = try await searched(space)
                let lines = "\(space.root)/lines"
                try await space.sh(
                    "\(drive.binary) --home \(drive.home) find 'content == word' --live > \(lines) 2>&1 & echo $! > live.pid"
                )
                defer { _ = try? killLive(space) }
                try await drive.sh("echo 'a word' > a.txt")
                try await eventually("it is told", seconds: 30) {
                    try await space.sh("head -1 \(lines)") == "+ a.txt\n"
                }
                try await drive.sh("echo 'another' > a.txt")
                try await eventually("it is told", seconds: 30) {
                    try await space.sh("tail -1 \(lines)") == "- a.txt\n"
                }
            }
        }

        @Test("When the words take all they may, no more documents are read, and the log says so once")
        func full() async throws {
            try await Workspace.use { space in
                let drive = try await searched(space, megabytes: 1)
                try await drive.sh("for i in 1 2; do echo early; seq -w 100000; done > a.txt")
                try await found(drive, "content == early", ["a.txt"])
                try await drive.sh("echo late > b.txt; echo late > c.txt")
                let said = "grep -c 'no more documents' \(drive.home)/daemon.log || true"
                try await eventually("the log says so", seconds: 30) { try await space.sh(said) == "1\n" }
                try await drive.sh("echo early > d.txt")
                #expect(try await drive.quire("find", "content == late").require(0).output == "")
                #expect(try await space.sh(said) == "1\n")
            }
        }

        @Test("Without the option: an error that names it")
        func off() async throws {
            try await Workspace.use { space in
                let drive = try await space.mounted()
                for arguments in [
                    ["find", "content == a"], ["find", "--live", "kMDItemTextContent == a || size > 1"],
                ] {
                    let outcome = await drive.quire(arguments)
                    #expect(outcome.status == 69 && outcome.errors.contains("content = true"), "\(outcome.errors)")
                }
                #expect(await drive.quire("find", "--sort", "content").status == 64)
            }
        }

        // Helpers

        private func searched(_ space: Workspace, megabytes: Int = 2000) async throws -> Drive {
            let drive = try await space.drive()
            try await drive.quire("provider", "list").require(0)
            try await space.sh(
                "sed -i -e 's/^content = .*/content = true/' -e 's/^content_megabytes.*/content_megabytes = \(megabytes)/' \(drive.home)/config.toml"
            )
            try await drive.mount()
            return drive
        }

        private func found(_ drive: Drive, _ condition: String, _ paths: [String]) async throws {
            try await eventually("\(condition) finds \(paths)", seconds: 30) {
                let output = try await drive.quire("find", condition).require(0).output
                return output.split(separator: "\n").map(String.init) == paths
            }
        }

        private func killLive(_ space: Workspace) throws {
            let text = try String(contentsOfFile: "\(space.root)/live.pid", encoding: .utf8)
            if let process = pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)) { kill(process, SIGTERM) }
        }
    }
}
