package import QuireCore

/// Where a provider keeps documents, as a person writes it: `folder:/abs/path`.
package struct ProviderURL: Sendable, Hashable, CustomStringConvertible {
    package enum Kind: Sendable, Hashable {
        /// Absolute path of a folder; bytes as written, nothing is percent-decoded.
        case folder(path: String)
    }

    package let kind: Kind

    /// - Throws: `.usage` for what is no such URL, and for schemes this version cannot serve.
    package init(_ text: String) throws(QuireError) {
        guard let colon = text.firstIndex(of: ":") else {
            throw QuireError(.usage, "\(text) is not a provider URL", remedy: "Write it as folder:/absolute/path.")
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
        case "webdav+http", "webdav+https", "s3+http", "s3+https":
            throw QuireError(
                .usage, "\(text[..<colon]) providers are not yet supported in this version",
                remedy: "Use a folder: folder:/absolute/path.")
        default:
            throw QuireError(
                .usage, "\(text[..<colon]) is not a kind of provider", remedy: "Write it as folder:/absolute/path.")
        }
    }

    /// The URL of the folder at an absolute path.
    package init(folder path: String) {
        precondition(path.utf8.first == 0x2F, "the folder's path is absolute")
        self.kind = .folder(path: Self.withoutTrailingSlashes(path))
    }

    package var description: String {
        switch kind {
        case .folder(let path): "folder:\(path)"
        }
    }

    /// The provider that keeps documents there, not yet connected.
    package func makeProvider() -> any DocumentProvider {
        switch kind {
        case .folder(let path): FolderProvider(root: path)
        }
    }

    private static func withoutTrailingSlashes(_ path: String) -> String {
        var bytes = Array(path.utf8)
        while bytes.count > 1, bytes.last == 0x2F { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }
}
