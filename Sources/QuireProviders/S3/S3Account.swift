package import Logging
package import QuireCore

/// A place at an object store, as its URL names it:
/// `s3+https://ACCESSKEY@host:port/bucket/prefix?region=eu-1&style=virtual&profile=work&pin=SHA256`. The secret is never in it.
package struct S3Account: Sendable, Hashable, CustomStringConvertible {
    private let endpoint: HTTPOrigin
    /// The access key; nil where the environment or AWS's credentials file has it.
    package private(set) var user: String?
    private let bucket: String
    /// Without slashes at its ends.
    private let prefix: String
    private let region: String?
    private let isVirtualHost: Bool
    private let profile: String?
    private let pin: String?

    /// - Parameter rest: what follows `s3+http:` or `s3+https:`.
    /// - Throws: `.usage`, saying what is wrong.
    package init(isSecure: Bool, _ rest: String) throws(QuireError) {
        let url = try ServerURL(isSecure: isSecure, rest, known: ["region", "style", "profile", "pin"]) {
            Self.wrong($0)
        }
        var names = url.names
        guard !names.isEmpty, let bucket = String(validating: names.removeFirst(), as: UTF8.self) else {
            throw Self.wrong("it names no bucket")
        }
        guard (3...63).contains(bucket.utf8.count),
            bucket.utf8.allSatisfy({
                (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || "-._".utf8.contains($0)
            })
        else { throw Self.wrong("\"\(bucket)\" is no bucket's name") }
        let decoded = names.compactMap { String(validating: $0, as: UTF8.self) }
        guard decoded.count == names.count else { throw Self.wrong("its prefix is not UTF-8") }
        let style = url.options["style"] ?? "path"
        guard ["path", "virtual"].contains(style) else { throw Self.wrong("style= is path or virtual") }
        endpoint = url.origin
        user = url.user
        self.bucket = bucket
        prefix = decoded.joined(separator: "/")
        region = url.options["region"]
        isVirtualHost = style == "virtual"
        profile = url.options["profile"]
        pin = url.pin
    }

    /// The same place for another access key.
    ///
    /// - Throws: `.usage` where none is in the URL, and for what cannot be one.
    package func withAccessKey(_ key: String) throws(QuireError) -> S3Account {
        guard user != nil else { throw Self.wrong("it names no access key, which the environment or a file has then") }
        guard !key.isEmpty, key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw QuireError(.usage, "\"\(key)\" is no access key", remedy: "Take it as the store shows it")
        }
        var account = self
        account.user = key
        return account
    }

    /// Whether one holds the objects of the other among its own.
    func isNested(_ other: S3Account) -> Bool {
        let (mine, others) = ("/" + prefix, "/" + other.prefix)
        return endpoint == other.endpoint && bucket == other.bucket && mine != others
            && AbsolutePath.overlap(mine, others)
    }

    /// The URL, in one form for one account.
    package var description: String {
        let options = [
            ("region", region), ("style", isVirtualHost ? "virtual" : nil), ("profile", profile), ("pin", pin),
        ].compactMap { name, value in value.map { "\(name)=\(PercentEncoding.encode($0.utf8))" } }
        let query = options.isEmpty ? "" : "?\(options.joined(separator: "&"))"
        let name = user.map { "\(PercentEncoding.encode($0.utf8))@" } ?? ""
        let path = ([bucket] + prefix.split(separator: "/").map(String.init)).map {
            "/\(PercentEncoding.encode($0.utf8))"
        }
        return "s3+\(endpoint.isSecure ? "https" : "http")://\(name)\(endpoint.authority)\(path.joined())\(query)"
    }

    /// The provider, not yet connected.
    ///
    /// - Parameters:
    ///   - secret: the secret key that belongs to the access key.
    ///   - pace: as for `S3Provider.init`.
    ///   - traffic: what content passes through.
    package func makeProvider(
        secret: SecretSource, pace: ListingPace? = nil, traffic: Traffic = Traffic(), logger: Logger
    ) -> S3Provider {
        let address = S3Address(
            endpoint: endpoint, bucket: bucket, prefix: prefix, region: region ?? "us-east-1",
            isVirtualHost: isVirtualHost)
        let signer: (any HTTPAuthorizer)? =
            if let user {
                secret.authorizer { secret in
                    S3Signer(S3Credentials(accessKey: user, secretKey: secret ?? ""), region: address.region)
                }
            } else {
                S3RenewedSigner(region: address.region, remedy: S3Credentials.remedy(profile: profile)) {
                    [profile] in S3Credentials.ofThisUser(profile: profile)
                }
            }
        return S3Provider(
            client: S3Client(
                address, signer: signer, pin: pin.flatMap(CertificatePin.init(hex:)), traffic: traffic), pace: pace,
            logger: logger)
    }

    private static func wrong(_ reason: String) -> QuireError {
        QuireError(
            .usage, "this is no object store's URL: \(reason)",
            remedy: "Write it as s3+https://ACCESSKEY@host/bucket/prefix?region=eu-1")
    }
}
