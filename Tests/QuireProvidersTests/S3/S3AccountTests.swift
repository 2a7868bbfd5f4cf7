import QuireCore
import QuireProviders
import Testing

@Suite("URLs of object stores")
struct S3AccountTests {
    @Test(
        "A store's URL is read, and written in one form",
        arguments: [
            ("s3+https://KEY@Store.example/bucket/", "s3+https://KEY@store.example/bucket"),
            (
                "s3+http://KEY@h:81/my-bucket/a%20b//c?style=path&region=eu-1",
                "s3+http://KEY@h:81/my-bucket/a%20b/c?region=eu-1"
            ),
            ("s3+https://h/bucket?profile=work&style=virtual", "s3+https://h/bucket?style=virtual&profile=work"),
        ])
    func accounts(text: String, form: String) throws {
        let url = try ProviderURL(text)
        #expect(url.description == form)
        #expect(try ProviderURL(form) == url)
        #expect(url.isRemote && url.makeProvider(secret: .known("x")) is S3Provider)
    }

    @Test("What is no store is refused, and a secret in a URL is not repeated")
    func refused() {
        for wrong in [
            "s3+https://h", "s3+https://h/", "s3+https://h/no bucket", "s3+https://h/ab",
            "s3+https://h/bucket?style=other",
            "s3+https://h/bucket?other=1", "s3+https://h/bucket?region", "s3+ftp://h/bucket",
        ] { #expect(throws: QuireError.self, "\(wrong)") { try ProviderURL(wrong) } }
        let error = #expect(throws: QuireError.self) { try ProviderURL("s3+https://KEY:hunter2@h/bucket") }
        #expect(error?.description.contains("hunter2") == false)
    }
}
