package import Logging
package import QuireCore

/// An account at a WebDAV server, as its URL names it: `webdav+https://user@host:port/path?pin=SHA256`. The secret is never
/// in it.
package struct WebDAVAccount: Sendable, Hashable, CustomStringConvertible {
    package let origin: HTTPOrigin
    /// Decoded; nil where the secret is a token, or none is needed.
    package let user: String?
    /// Percent-encoded, with a leading slash.
    private let base: String
    private let pin: String?

    /// - Parameter rest: what follows `webdav+http:` or `webdav+https:`.
    /// - Throws: `.usage`, saying what is wrong.
    package init(isSecure: Bool, _ rest: String) throws(QuireError) {
        let url = try ServerURL(isSecure: isSecure, rest, known: ["pin"]) { Self.wrong($0) }
        origin = url.origin
        user = url.user
        base = url.names.isEmpty ? "/" : url.names.map { "/\(PercentEncoding.encode($0))" }.joined()
        pin = url.pin
    }

    /// The URL, in one form for one account.
    package var description: String {
        let name = user.map { "\(PercentEncoding.encode($0.utf8))@" } ?? ""
        let rest = "\(name)\(origin.authority)\(base)\(pin.map { "?pin=\($0)" } ?? "")"
        return "webdav+\(origin.isSecure ? "https" : "http")://\(rest)"
    }

    /// Whether one is a directory within the other, as far as the URLs tell. Another user may see another tree.
    func isNested(_ other: WebDAVAccount) -> Bool {
        origin == other.origin && user == other.user && base != other.base
            && AbsolutePath.overlap(base, other.base)
    }

    /// The provider, not yet connected.
    ///
    /// - Parameters:
    ///   - secret: the user's password; a bearer token where there is no user.
    ///   - pace: as for `WebDAVProvider.init`.
    ///   - traffic: what content passes through.
    package func makeProvider(
        secret: SecretSource, pace: ListingPace? = nil, traffic: Traffic = Traffic(), logger: Logger
    ) -> WebDAVProvider {
        let authorizer = secret.authorizer { [user] secret in
            switch (user, secret) {
            case (let user?, let secret): PasswordAuthorizer(user: user, password: secret ?? "")
            case (nil, let secret?): FixedAuthorizer.bearer(token: secret)
            case (nil, nil): nil
            }
        }
        let transport = HTTPTransport(
            origin: origin, pin: pin.flatMap(CertificatePin.init(hex:)), authorizer: authorizer,
            traffic: traffic, explain: DAVWords.explain)
        return WebDAVProvider(transport: transport, base: base, pace: pace, logger: logger)
    }

    private static func wrong(_ reason: String) -> QuireError {
        QuireError(
            .usage, "this is no WebDAV account's URL: \(reason)",
            remedy: "Write it as webdav+https://user@host/path")
    }
}
