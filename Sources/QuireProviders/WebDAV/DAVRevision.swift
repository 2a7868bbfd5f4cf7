import QuireCore

/// A version that a server keeps of a document besides the present one, as it is named to the engine. The document's own
/// identifier is in the name: so it is the same version wherever the document is, and none of another one that took its place.
struct DAVRevision: Sendable, Hashable {
    /// A document's `oc:fileid`: a number, or with Infinite Scale a text.
    typealias Document = FileName

    let document: Document
    /// In the collection of the document's versions.
    let name: FileName

    init(of document: Document, _ name: FileName) { (self.document, self.name) = (document, name) }

    /// Nil for the version of a present document.
    init?(_ version: ProviderVersion) {
        guard version.rawValue.hasPrefix(Self.mark) else { return nil }
        let parts = version.rawValue.dropFirst(Self.mark.count).split(separator: "/").map {
            FileName(PercentEncoding.decode($0))
        }
        guard parts.count == 2, let document = parts[0], let name = parts[1] else { return nil }
        self.init(of: document, name)
    }

    private static let mark = "version="

    /// `version=FILEID/NAME`, both percent-encoded: people type it.
    var version: ProviderVersion {
        ProviderVersion(
            "\(Self.mark)\(PercentEncoding.encode(document.bytes))/\(PercentEncoding.encode(name.bytes))")
    }

    /// The time that its name is, in seconds since 1970; nil where the name is something else.
    var time: FileTime? {
        guard name.bytes.count <= 11, name.bytes.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(name.description).map { FileTime(seconds: $0, nanoseconds: 0) }
    }
}
