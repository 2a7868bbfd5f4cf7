import QuireCore

/// One object as a listing has it.
struct S3Object: Sendable {
    var key: [UInt8] = []
    /// Without quotes.
    var entityTag = ""
    var size: Int64 = 0
    var modified = FileTime.unknown

    /// It has the key of a directory's marker, and bytes of somebody, which no file can show.
    var isFullMarker: Bool { key.last == UInt8(ascii: "/") && size > 0 && S3Sign(self) == nil }
}

/// One page of a listing (ListObjectsV2).
struct S3Page: Sendable {
    var objects: [S3Object] = []
    /// What is common to further keys up to the next slash, that included.
    var prefixes: [[UInt8]] = []
    /// Where the next page begins; nil after the last.
    var next: String?
    /// Keys came percent-encoded; else as far as XML can hold them.
    var isEncoded = false
}

/// An entity tag as it is compared and kept: S3 quotes it in some places and not in others.
enum S3EntityTag {
    /// A tag that no object has.
    static let nobodys = "\"\(String(repeating: "0", count: 32))\""

    static func plain(_ text: String) -> String {
        var text = text[...]
        if text.hasPrefix("W/") { text = text.dropFirst(2) }
        return text.count >= 2 && text.hasPrefix("\"") && text.hasSuffix("\"")
            ? String(text.dropFirst().dropLast()) : String(text)
    }
}

/// Reads a page of a listing. Keys are wanted percent-encoded (`encoding-type=url`), as XML cannot hold every byte. A store
/// that knows nothing of that lists them as they are; one that does says so, in some place of the page.
final class S3PageReader: XMLReceiver {
    private(set) var page = S3Page()
    private(set) var isListing = false
    private var object: S3Object?
    private var isPrefix = false
    private var isTruncated = false
    private var token: String?

    func begin(space: String, name: String) {
        switch name {
        case "ListBucketResult": isListing = true
        case "Contents": object = S3Object()
        case "CommonPrefixes": isPrefix = true
        default: break
        }
    }

    func end(space: String, name: String, text: String) {
        switch name {
        case "Contents":
            if let object { page.objects.append(object) }
            object = nil
        case "CommonPrefixes": isPrefix = false
        case "Key": object?.key = Array(text.utf8)
        case "ETag": object?.entityTag = S3EntityTag.plain(text)
        case "Size": object?.size = Int64(text) ?? -1
        case "LastModified":
            object?.modified = FileTime(seconds: HTTPDate.parse(text)?.seconds ?? 0, nanoseconds: 0)
        case "Prefix": if isPrefix { page.prefixes.append(Array(text.utf8)) }
        case "EncodingType": page.isEncoded = Self.isEncoding(text)
        case "IsTruncated": isTruncated = text == "true"
        case "NextContinuationToken": token = text
        default: break
        }
        page.next = isTruncated ? token : nil
    }

    /// - Throws: `.failed` for what is no whole page: a listing that was cut is not taken for all there is.
    func finished() throws(ProviderError) -> S3Page {
        guard isListing, !isTruncated || token != nil, page.objects.allSatisfy({ $0.size >= 0 && !$0.key.isEmpty })
        else { throw ProviderError(.failed, "the server's answer is no listing of a bucket") }
        guard page.isEncoded else { return page }
        var page = page
        for index in page.objects.indices { page.objects[index].key = Self.decoded(page.objects[index].key) }
        page.prefixes = page.prefixes.map(Self.decoded)
        return page
    }

    /// Whether a page of this `EncodingType` has its keys encoded.
    static func isEncoding(_ text: String) -> Bool { text.lowercased() == "url" }

    /// What an encoded key stands for. A plus sign is a space there.
    static func decoded(_ key: [UInt8]) -> [UInt8] {
        PercentEncoding.decode(String(decoding: key, as: UTF8.self).replacing("+", with: "%20"))
    }
}

/// Gathers the text of the elements that have no elements in them, by name; the last of each counts.
final class S3ElementReader: XMLReceiver {
    private(set) var values: [String: String] = [:]

    func begin(space: String, name: String) {}
    func end(space: String, name: String, text: String) { values[name] = text }

    /// The elements of a short answer; none where it is not XML.
    static func values(_ body: [UInt8]) -> [String: String] {
        let receiver = S3ElementReader()
        guard let reader = try? XMLReader(receiver), (try? reader.read(body)) != nil, (try? reader.finish()) != nil
        else { return [:] }
        return receiver.values
    }
}
