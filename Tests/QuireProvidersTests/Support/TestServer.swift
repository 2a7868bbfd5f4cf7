import Glibc
import QuireCore
import QuireProviders
import Testing

/// The servers that `Tests/Servers/run` has started.
enum TestServer {
    /// An account of its own at one of them.
    struct Account: Sendable {
        let origin: HTTPOrigin
        /// Percent-encoded path.
        var base: String
        /// Where the server keeps it.
        let directory: TemporaryDirectory

        /// As a person writes it.
        var url: String { "webdav+http://quire@\(origin.authority)\(base)" }

        func provider() -> WebDAVProvider { WebDAVProvider(transport: transport(), base: base) }

        func transport() -> HTTPTransport {
            HTTPTransport(
                origin: origin, authorizer: PasswordAuthorizer(user: "quire", password: "quire-secret-key"))
        }
    }

    /// URL and working directory by name, from `QUIRE_TEST_SERVERS`.
    static let started: [String: (url: String, directory: String)] = {
        let text = getenv("QUIRE_TEST_SERVERS").map { String(cString: $0) } ?? ""
        let rows = text.split(separator: "\n").map { $0.split(separator: "=", maxSplits: 2).map(String.init) }
        return Dictionary(uniqueKeysWithValues: rows.filter { $0.count == 3 }.map { ($0[0], ($0[1], $0[2])) })
    }()

    /// A new collection at the WebDAV server of that name.
    static func account(_ name: String) async throws -> Account {
        let (url, directory) = try #require(started[name], "\(name) is not running")
        let (origin, top) = try #require(HTTPOrigin.parse(url))
        let collection = "bench-\(String(UInt64.random(in: 0 ... .max), radix: 16))"
        let account = Account(
            origin: origin, base: "\(top)\(collection)",
            directory: TemporaryDirectory(adopting: "\(directory)/data/\(collection)"))
        let made = try await account.transport().send(HTTPRequest("MKCOL", "\(account.base)/"))
        try #require(made.status == 201)
        return account
    }
}
