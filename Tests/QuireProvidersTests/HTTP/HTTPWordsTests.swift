import QuireCore
import QuireProviders
import Testing

@Suite("What HTTP writes and says")
struct HTTPWordsTests {
    @Test("Names are encoded byte by byte and come back")
    func encoding() {
        let name: [UInt8] = Array("é %/?#+&=~.-_".utf8) + [0xFF, 0x01]
        let text = PercentEncoding.encode(name)
        #expect(text == "%C3%A9%20%25%2F%3F%23%2B%26%3D~.-_%FF%01")
        #expect(PercentEncoding.decode(text) == name)
        #expect(PercentEncoding.decode("a%2fb%zz%4") == Array("a/b%zz%4".utf8))
        #expect(PercentEncoding.encode("a b/c#" as RelativePath) == "a%20b/c%23")
    }

    @Test(
        "Each form of a date is the same second",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
            "Sun, 06 Nov 1994 08:49:37 +0000", "Sun, 06 Nov 1994 03:19:37 -0530", "Sun, 6 Nov 1994 09:49:37 +0100",
            "Sun Nov  6 08:49:37 UTC 1994", "Sun Nov 06 09:49:37 +0100 1994", "Sun, 06 Nov 1994 08:49:37 UTC",
            "1994-11-06T08:49:37Z", "1994-11-06T09:49:37+01:00", "1994-11-06T08:49:37.000Z",
        ])
    func dates(text: String) {
        #expect(HTTPDate.parse(text) == FileTime(seconds: 784_111_777, nanoseconds: 0))
    }

    @Test("A date is written as it is read, and nonsense is none")
    func dateFormat() {
        for seconds in [0, 784_111_777, 951_827_696, 4_102_444_799, -1] {
            let time = FileTime(seconds: seconds, nanoseconds: 0)
            #expect(HTTPDate.parse(HTTPDate.format(time)) == time)
        }
        #expect(HTTPDate.format(FileTime(seconds: 784_111_777, nanoseconds: 5)) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate.formatBasic(FileTime(seconds: 784_111_777, nanoseconds: 0)) == "19941106T084937Z")
        #expect(HTTPDate.parse("2023-01-02T03:04:05.25Z")?.subsecondNanoseconds == 250_000_000)
        for (text, seconds) in [
            ("Fri, 05 Jan 2018 14:14:38 +0000", 1_515_161_678), ("Wed May 17 15:31:58 UTC 2017", 1_495_035_118),
        ] {
            #expect(HTTPDate.parse(text)?.seconds == seconds)
        }
        // What other zones are called is not known.
        for text in [
            "Wed May 17 15:31:58 CEST 2017", "Wed, 17 May 2017 15:31:58 CET", "Wed, 17 May 2017 15:31:58 +9900",
        ] {
            #expect(HTTPDate.parse(text) == nil)
        }
        for text in ["", "yesterday", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:61:37 GMT", "1994-11-06"] {
            #expect(HTTPDate.parse(text) == nil)
        }
    }

    @Test("An origin is read with its port, and what is none is refused")
    func origins() {
        #expect(HTTPOrigin(isSecure: true, authority: "Host.example")?.description == "https://host.example")
        #expect(HTTPOrigin(isSecure: false, authority: "[::1]:81")?.description == "http://[::1]:81")
        #expect(HTTPOrigin(isSecure: false, authority: "h:80")?.authority == "h")
        for text in ["", "h:", "h:0", "h:99999", "h:1:2", "[::1", "a b", "h/x", "me@h"] {
            #expect(HTTPOrigin(isSecure: true, authority: text) == nil)
        }
        #expect(HTTPOrigin.parse("http://h:81/a%20b?c#d")?.target == "/a%20b?c")
        #expect(HTTPOrigin.parse("HTTPS://H")?.origin.port == 443)
        #expect(HTTPOrigin.parse("ftp://h/") == nil)
    }

    @Test("What gateways and networks answer in a server's place proves nothing of what it can do")
    func proof() {
        for status in [401, 407, 408, 425, 429, 502, 503, 504, 507, 509, 511] + (520..<600) {
            #expect(HTTPAnswer(status: status).provesNothing, "\(status)")
        }
        for status in [200, 207, 400, 403, 404, 405, 412, 423, 500, 501, 505, 508, 510, 519] {
            #expect(!HTTPAnswer(status: status).provesNothing, "\(status)")
        }
    }

    @Test("Each status has its meaning, and the server's words are kept")
    func statuses() {
        let transport = HTTPTransport(origin: HTTPOrigin(isSecure: false, host: "h"))
        let codes: [Int: ProviderError.Code] = [
            302: .unavailable, 400: .failed, 401: .unavailable, 403: .permissionDenied, 404: .notFound,
            405: .failed,
            409: .parentMissing, 410: .notFound, 412: .conditionFailed, 413: .unsupported, 414: .invalidName,
            423: .failed, 425: .unavailable, 429: .unavailable, 500: .failed, 501: .failed, 502: .unavailable,
            503: .unavailable,
            504: .unavailable, 507: .noSpace, 509: .unavailable, 511: .unavailable, 520: .unavailable,
            530: .unavailable, 531: .unavailable, 599: .unavailable, 508: .failed, 519: .failed,
        ]
        for (status, code) in codes {
            #expect(transport.error(HTTPAnswer(status: status), "x cannot be written").code == code)
        }
        for (status, words) in [(511, "the network wants a login first"), (524, "behind the gateway does not answer")] {
            #expect(transport.error(HTTPAnswer(status: status), "x").message.contains(words))
        }
        for (offers, isKnown) in [
            (["Negotiate", "NTLM"], false), (["Negotiate, NTLM"], false), (["Digest realm=\"r\", algorithm=X"], false),
            (["Negotiate", "Basic realm=\"r\""], true), (["Bearer"], true), ([], true),
        ] as [([String], Bool)] {
            let fields = HTTPFields(offers.map { (name: "WWW-Authenticate", value: $0) })
            let message = transport.error(HTTPAnswer(status: 401, fields: fields), "x").message
            #expect(message.contains("does not accept the user name and secret") == isKnown, "\(offers)")
            #expect(message.contains("no way of signing in that Quire knows") != isKnown, "\(offers)")
        }
        let html = "<html>\n<title>Full</title><p>No room\u{7} here</p></html>"
        let error = transport.error(HTTPAnswer(status: 507, body: Array(html.utf8)), "a.txt cannot be written")
        #expect(error.message.hasPrefix("a.txt cannot be written: "))
        #expect(error.cause == "the server says 507 Insufficient Storage: Full No room here")
    }
}
