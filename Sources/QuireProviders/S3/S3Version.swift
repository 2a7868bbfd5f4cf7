import QuireCore

/// A version that a bucket keeps besides the present one, as it is named to the engine: an entity tag is no name for it, as
/// the same bytes may have been there twice.
struct S3Version {
    let identifier: String

    init(identifier: String) { self.identifier = identifier }

    /// Nil for the version of a present object.
    init?(_ version: ProviderVersion) {
        guard version.rawValue.hasPrefix(Self.mark) else { return nil }
        identifier = String(version.rawValue.dropFirst(Self.mark.count))
    }

    private static let mark = "versionId="

    var version: ProviderVersion { ProviderVersion(Self.mark + identifier) }

    /// Of a request for it.
    var query: String { Self.mark + PercentEncoding.encode(identifier.utf8) }

    /// Whether the store says that it sent this one.
    func isThat(of answer: HTTPAnswer) -> Bool { answer.fields["x-amz-version-id"] == identifier }
}

/// One page of the versions of objects (ListObjectVersions).
struct S3VersionPage: Sendable {
    struct Entry: Sendable {
        var object = S3Object()
        var identifier = ""
        var isLatest = false
    }

    /// Without the marks of deletions.
    var entries: [Entry] = []
    /// Where the next page begins; nil after the last.
    var next: Marker?

    struct Marker: Sendable, Hashable {
        var key: [UInt8]
        var identifier: String
    }
}

/// Reads a page of versions, with keys as in `S3PageReader`. The key at which the next page begins is the last of this one;
/// some stores (Ceph) have it as it is where they encode all others.
final class S3VersionPageReader: XMLReceiver {
    private var page = S3VersionPage()
    private var isListing = false
    private var entry: S3VersionPage.Entry?
    private var isTruncated = false
    private var isEncoded = false
    /// Also of a mark of a deletion.
    private var lastKey: [UInt8] = []
    private var nextKey: [UInt8] = []
    private var nextIdentifier = ""

    func begin(space: String, name: String) {
        switch name {
        case "ListVersionsResult": isListing = true
        case "Version": entry = S3VersionPage.Entry()
        default: break
        }
    }

    func end(space: String, name: String, text: String) {
        switch name {
        case "Version":
            if let entry { page.entries.append(entry) }
            entry = nil
        case "Key":
            lastKey = Array(text.utf8)
            entry?.object.key = lastKey
        case "VersionId": entry?.identifier = text
        case "IsLatest": entry?.isLatest = text == "true"
        case "Size": entry?.object.size = Int64(text) ?? -1
        case "LastModified": entry?.object.modified = HTTPDate.parse(text) ?? .unknown
        case "IsTruncated": isTruncated = text == "true"
        case "NextKeyMarker": nextKey = Array(text.utf8)
        case "EncodingType": isEncoded = S3PageReader.isEncoding(text)
        case "NextVersionIdMarker": nextIdentifier = text
        default: break
        }
    }

    /// - Throws: `.failed` for what is no whole page.
    func finished() throws(ProviderError) -> S3VersionPage {
        guard isListing, !isTruncated || !nextKey.isEmpty,
            page.entries.allSatisfy({ $0.object.size >= 0 && !$0.identifier.isEmpty })
        else { throw ProviderError(.failed, "the server's answer is no listing of versions") }
        page.next = isTruncated ? .init(key: markedKey, identifier: nextIdentifier) : nil
        guard isEncoded else { return page }
        var page = page
        for index in page.entries.indices {
            page.entries[index].object.key = S3PageReader.decoded(page.entries[index].object.key)
        }
        return page
    }

    private var markedKey: [UInt8] {
        guard isEncoded else { return nextKey }
        let isAsItIs = nextKey != lastKey && nextKey == S3PageReader.decoded(lastKey)
        return isAsItIs ? nextKey : S3PageReader.decoded(nextKey)
    }
}
