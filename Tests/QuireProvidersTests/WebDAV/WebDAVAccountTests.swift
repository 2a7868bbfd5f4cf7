import QuireCore
import QuireProviders
import Testing

@Suite("URLs of WebDAV accounts")
struct WebDAVAccountTests {
    @Test(
        "An account's URL is read, and written in one form",
        arguments: [
            ("webdav+https://me@Cloud.example/dav/", "webdav+https://me@cloud.example/dav"),
            ("webdav+https://cloud.example:443", "webdav+https://cloud.example/"),
            ("webdav+http://me%40work@h:81/a%20b//é", "webdav+http://me%40work@h:81/a%20b/%C3%A9"),
            ("webdav+http://[::1]:8080/x", "webdav+http://[::1]:8080/x"),
        ])
    func accounts(text: String, form: String) throws {
        let url = try ProviderURL(text)
        #expect(url.description == form)
        #expect(try ProviderURL(form) == url)
        #expect(url.isRemote && url.makeProvider(secret: .known("x")) is WebDAVProvider)
    }

    @Test("A pinned certificate is part of the account")
    func pin() throws {
        let pin = String(repeating: "0a", count: 32)
        #expect(
            try ProviderURL("webdav+https://h/?pin=\(pin.uppercased())").description == "webdav+https://h/?pin=\(pin)")
        for wrong in ["webdav+http://h/?pin=\(pin)", "webdav+https://h/?pin=12", "webdav+https://h/?other=1"] {
            #expect(throws: QuireError.self) { try ProviderURL(wrong) }
        }
    }

    @Test("What is no account is refused, and a password in a URL is not repeated")
    func refused() {
        for wrong in [
            "webdav+https:", "webdav+https:/h", "webdav+https://", "webdav+https://me@", "webdav+https://@h/",
            "webdav+https://h:x/", "webdav+https://h/../x", "webdav+https://h/#f", "webdav+ftp://h/",
        ] { #expect(throws: QuireError.self, "\(wrong)") { try ProviderURL(wrong) } }
        let error = #expect(throws: QuireError.self) { try ProviderURL("webdav+https://me:hunter2@h/") }
        #expect(error?.description.contains("hunter2") == false)
    }
}
