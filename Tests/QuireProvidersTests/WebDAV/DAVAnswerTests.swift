import QuireCore
import Testing

@testable import QuireProviders

/// What servers answer, right and wrong.
@Suite("Answers of WebDAV servers")
struct DAVAnswerTests {
    private func listing(
        _ body: String, status: String = "207 Multi-Status", path: RelativePath = "d", limit: Int = 1 << 20
    ) async throws -> [RelativePath: RemoteItem]? {
        let server = try LoopbackServer(steps: [{ peer, _ in peer.answer(status, ["Content-Type: text/xml"], body) }])
        let transport = HTTPTransport(origin: HTTPOrigin(isSecure: false, host: "127.0.0.1", port: server.port))
        let client = DAVClient(
            transport: transport, address: DAVAddress(origin: transport.origin, base: "/dav/my%20files/"))
        let found = try await client.propfind(path, depth: "1", limit: limit)
        return try found.map { found in
            Dictionary(uniqueKeysWithValues: try found.map { ($0.path, try $0.resource.item($0.path, stamps: true)) })
        }
    }

    private func response(_ href: String, _ properties: String, _ status: String = "HTTP/1.1 200 OK") -> String {
        "<D:response><D:href>\(href)</D:href><D:propstat><D:prop>\(properties)</D:prop><D:status>\(status)</D:status>"
            + "</D:propstat></D:response>"
    }

    private func multistatus(_ responses: String...) -> String {
        "<?xml version=\"1.0\"?>\n<D:multistatus xmlns:D=\"DAV:\">\(responses.joined())</D:multistatus>"
    }

    @Test("Hrefs in every form, tags in every form, and properties that are missing")
    func forms() async throws {
        let text = multistatus(
            response("/dav/my%20files/d/", "<D:resourcetype><D:collection/></D:resourcetype>"),
            response(
                "http://elsewhere:99/dav/my%20files/d/a%2Db%26%C3%A9",
                "<D:getcontentlength> 5\n</D:getcontentlength><D:getetag>W/\"x\"</D:getetag>"),
            response("/dav/my files/d/c&amp;d", "<D:getcontentlength>0</D:getcontentlength><D:getetag>x</D:getetag>"),
            response(
                "/dav/my%20files/d/e",
                "<D:getcontentlength>7</D:getcontentlength><D:getlastmodified>Sun, 06 Nov 1994 08:49:37 GMT"
                    + "</D:getlastmodified>")
                + response(
                    "/dav/my%20files/d/f/", "<D:resourcetype><D:collection/><x:y xmlns:x=\"z\"/></D:resourcetype>"))
        let found = try #require(try await listing(text))
        #expect(Set(found.keys) == ["d", "d/a-b&é", "d/c&d", "d/e", "d/f"])
        #expect(found["d/f"]?.kind == .directory && found["d/a-b&é"]?.size == ByteCount(5))
        #expect(found["d/a-b&é"]?.version == found["d/c&d"]?.version, "weakness and quotes are no part of a version")
        #expect(found["d/e"]?.mtime.seconds == 784_111_777)
    }

    @Test("A stamp counts for the version that it was made for, and for no other")
    func stamps() async throws {
        let stamp = DAVStamp(
            mtime: FileTime(nanoseconds: 5), mode: 0o640, checksum: .sha256(of: [1]), version: ProviderVersion("e-a b"))
        func file(_ tag: String) -> String {
            response(
                "/dav/my%20files/d/\(tag.first ?? "x")",
                "<D:getcontentlength>1</D:getcontentlength><D:getetag>\"\(tag)\"</D:getetag>"
                    + "<q:stamp xmlns:q=\"urn:quire\">\(stamp.text)</q:stamp>")
        }
        let found = try #require(try await listing(multistatus(file("a b"), file("other"))))
        #expect(found["d/a"]?.mtime == FileTime(nanoseconds: 5) && found["d/a"]?.mode == 0o640)
        #expect(found["d/a"]?.checksum == .sha256(of: [1]))
        #expect(found["d/o"]?.mode == nil && found["d/o"]?.checksum == nil)
        for text in [
            "", "3 5 640 - e-x", "2 5 640 - e-x", "1 x 640 - e-x", "1 5 999 - e-x", "1 5 7777 - e-x", "1 5 640 -",
        ] {
            #expect(DAVStamp(text) == nil)
        }
    }

    @Test("The tags of a stamp count for every version, whatever characters they have; what has no stamp has none")
    func stampedTags() async throws {
        var stamp = DAVStamp(mtime: FileTime(nanoseconds: 5), mode: 0o640, version: ProviderVersion("e-a b"))
        for tags in [[], ["work"], ["two words", "Grüße", "100 %", "<&>"]] {
            stamp.tags = tags
            let read = try #require(DAVStamp(stamp.text))
            #expect(read.tags == tags && read.version == stamp.version && read.mode == 0o640)
        }
        let property =
            "<q:stamp xmlns:q=\"urn:quire\">\(stamp.text.replacing("<", with: "&lt;").replacing("&>", with: "&amp;>"))</q:stamp>"
        let file = "<D:getcontentlength>1</D:getcontentlength><D:getetag>\"other\"</D:getetag>"
        let found = try #require(
            try await listing(
                multistatus(
                    response("/dav/my%20files/d/a", file + property), response("/dav/my%20files/d/b", file))))
        #expect(found["d/a"]?.tags == stamp.tags && found["d/a"]?.mode == nil)
        #expect(found["d/a"]?.toldTags == stamp.tags)
        #expect(found["d/b"]?.tags == [] && found["d/b"]?.toldTags == nil)
    }

    @Test("What is no whole listing is an error, and never a shorter listing")
    func broken() async throws {
        let whole = multistatus(response("/dav/my%20files/d/a", "<D:getcontentlength>1</D:getcontentlength>"))
        let wrong = [
            "", "<html><body>Log in</body></html>", "{\"json\":1}", String(whole.dropLast(3)),
            String(whole.dropLast(60)),
            whole + whole,
            multistatus(response("/dav/my%20files/elsewhere", "<D:getcontentlength>1</D:getcontentlength>")),
            multistatus(response("/other/d/a", "<D:getcontentlength>1</D:getcontentlength>")),
            multistatus(response("/dav/my%20files/d/..%2F..%2Fx/../y", "<D:getcontentlength>1</D:getcontentlength>")),
            multistatus(response("/dav/my%20files/d/a", "<D:getcontentlength>-1</D:getcontentlength>")),
            multistatus(response("/dav/my%20files/d/a", "<D:getetag>\"no size\"</D:getetag>")),
            String(repeating: "<a>", count: 100), "<a>\(String(repeating: "x", count: 2 << 20))</a>", "<a>\u{1}</a>",
        ]
        for text in wrong {
            #expect(await refusal { try await listing(text, limit: 8 << 20) } == .failed, "\(text.prefix(60))")
        }
        #expect(await refusal { try await listing(whole, status: "200 OK") } == .failed)
        #expect(await refusal { try await listing(whole, limit: 100) } == .failed)
        #expect(await refusal { try await listing("no", status: "401 Unauthorized") } == .unavailable)
        #expect(try await listing("", status: "404 Not Found") == nil)
    }

    @Test("Entities are not expanded, and no other file is read")
    func entities() async throws {
        let bomb = """
            <!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;">]>
            <a>&c;</a>
            """
        let file = "<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><a>&x;</a>"
        for text in [bomb, file] { #expect(await refusal { try await listing(text) } == .failed) }
    }

    @Test("A lock's token is read from the field, or from the body")
    func tokens() {
        let body = """
            <D:prop xmlns:D="DAV:"><D:lockdiscovery><D:activelock><D:owner><D:href>me</D:href></D:owner><D:locktoken>
            <D:href> urn:uuid:1 </D:href></D:locktoken></D:activelock></D:lockdiscovery></D:prop>
            """
        #expect(DAVLockToken.read(HTTPAnswer(status: 200, body: Array(body.utf8))) == "urn:uuid:1")
        #expect(DAVLockToken.read(HTTPAnswer(status: 200, fields: ["lock-token": " <urn:2> "])) == "urn:2")
        #expect(DAVLockToken.read(HTTPAnswer(status: 200, body: Array("nonsense".utf8))) == nil)
    }

    @Test("A server's own words are found in sabre's errors, and in pages")
    func words() {
        let sabre = """
            <?xml version="1.0"?><d:error xmlns:d="DAV:" xmlns:s="http://sabredav.org/ns"><s:exception>X</s:exception>
            <s:message>The quota is used up</s:message></d:error>
            """
        let answer = HTTPAnswer(status: 507, fields: ["Content-Type": "application/xml"], body: Array(sabre.utf8))
        #expect(DAVWords.explain(answer) == "The quota is used up")
        #expect(DAVWords.explain(HTTPAnswer(status: 500, body: Array("<p>Oh</p>".utf8))) == "Oh")
    }
}
