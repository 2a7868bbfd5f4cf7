package import Logging
package import QuireCore

/// Where a provider keeps documents, as a person writes it: `folder:/abs/path`, `webdav+https://user@host/path`,
/// `s3+https://ACCESSKEY@host/bucket/prefix`.
package struct ProviderURL: Sendable, Hashable, CustomStringConvertible {
    package enum Kind: Sendable, Hashable {
        /// Absolute path of a folder; bytes as written, nothing is percent-decoded.
        case folder(path: String)
        case webDAV(WebDAVAccount)
        case s3(S3Account)
    }

    package let kind: Kind

    private static let forms = """
        Write it as folder:/absolute/path, webdav+https://user@host/path or s3+https://ACCESSKEY@host/bucket/prefix.
        """

    /// - Throws: `.usage` for what is no such URL, and for schemes this version cannot serve.
    package init(_ text: String) throws(QuireError) {
        guard let colon = text.firstIndex(of: ":") else {
            throw QuireError(.usage, "\(text) is not a provider URL", remedy: Self.forms)
        }
        let rest = String(text[text.index(after: colon)...])
        switch text[..<colon] {
        case "folder":
            guard rest.utf8.first == 0x2F, !rest.utf8.contains(0) else {
                throw QuireError(
                    .usage, "\(text) does not name a folder by its absolute path",
                    remedy: "Write it as folder:/absolute/path.")
            }
            self.kind = .folder(path: Self.withoutTrailingSlashes(rest))
        case "webdav+http": kind = .webDAV(try WebDAVAccount(isSecure: false, rest))
        case "webdav+https": kind = .webDAV(try WebDAVAccount(isSecure: true, rest))
        case "s3+http": kind = .s3(try S3Account(isSecure: false, rest))
        case "s3+https": kind = .s3(try S3Account(isSecure: true, rest))
        default:
            throw QuireError(.usage, "\(text[..<colon]) is not a kind of provider", remedy: Self.forms)
        }
    }

    private init(_ kind: Kind) { self.kind = kind }

    /// The same place for another access key, as where keys are changed regularly.
    ///
    /// - Throws: `.usage` where there is none to change.
    package func withAccessKey(_ key: String) throws(QuireError) -> ProviderURL {
        guard case .s3(let account) = kind else {
            throw QuireError(
                .usage, "\(self) has no access key", remedy: "Only an object store has; leave out --access-key")
        }
        return ProviderURL(.s3(try account.withAccessKey(key)))
    }

    /// The URL of the folder at an absolute path.
    package init(folder path: String) {
        precondition(path.utf8.first == 0x2F, "the folder's path is absolute")
        self.kind = .folder(path: Self.withoutTrailingSlashes(path))
    }

    package var description: String {
        switch kind {
        case .folder(let path): "folder:\(path)"
        case .webDAV(let account): "\(account)"
        case .s3(let account): "\(account)"
        }
    }

    /// Who asks, where a secret belongs to a name; nil for a folder, and where the secret is all there is.
    package var user: String? {
        switch kind {
        case .folder: nil
        case .webDAV(let account): account.user
        case .s3(let account): account.user
        }
    }

    /// Whether somebody is to be asked for a secret: not where the environment has it.
    package var wantsSecret: Bool {
        switch kind {
        case .folder: false
        case .webDAV: true
        case .s3(let account): account.user != nil
        }
    }

    /// Whether it lies on the network: what it can do is only known once it was tried, and it may want a secret.
    package var isRemote: Bool {
        switch kind {
        case .folder: false
        case .webDAV, .s3: true
        }
    }

    /// Whether the documents of one are among those of the other, by the URLs alone. Whether both are the same store is told by
    /// what that calls itself.
    package func isNested(_ other: ProviderURL) -> Bool {
        switch (kind, other.kind) {
        case (.folder(let path), .folder(let others)):
            path != others && AbsolutePath.overlap(path, others)
        case (.webDAV(let account), .webDAV(let others)): account.isNested(others)
        case (.s3(let account), .s3(let others)): account.isNested(others)
        default: false
        }
    }

    /// The provider that keeps documents there, not yet connected.
    ///
    /// - Parameters:
    ///   - secret: where its password or token comes from.
    ///   - pace: for those on the network; nil: they list everything each time.
    ///   - traffic: what content passes through.
    package func makeProvider(
        secret: SecretSource = .known(nil), pace: ListingPace? = nil, traffic: Traffic = Traffic(),
        logger: Logger = Logger(label: "quire-provider")
    ) -> any DocumentProvider {
        switch kind {
        case .folder(let path): FolderProvider(root: path, traffic: traffic, logger: logger)
        case .webDAV(let account):
            account.makeProvider(secret: secret, pace: pace, traffic: traffic, logger: logger)
        case .s3(let account): account.makeProvider(secret: secret, pace: pace, traffic: traffic, logger: logger)
        }
    }

    private static func withoutTrailingSlashes(_ path: String) -> String {
        var bytes = Array(path.utf8)
        while bytes.count > 1, bytes.last == 0x2F { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }
}
