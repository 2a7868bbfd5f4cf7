import Crypto
import QuireCore

/// Which unfinished upload in parts to a document's own key is one of a certain content: the store does not tell, and what is
/// remembered with the document was given when it was begun.
///
/// An object in `.quire/tmp`, named by the content and the key, which says
/// ```
/// KEY UPLOAD
/// ```
/// both percent-encoded. It is written after the upload was begun and before its first part, and removed when it is ended; so
/// what is without one has no parts, unless its last request was never answered.
struct S3UploadNote: Sendable {
    let key: [UInt8]
    let upload: String

    private static let ending = Array(".upload".utf8)
    /// Keys and uploads have about a thousand bytes, with three letters each at the most.
    private static let limit = 16 << 10

    /// The key of the note on an upload of some content to `key`.
    static func place(_ key: [UInt8], _ content: ContentChecksum, _ client: S3Client) -> [UInt8] {
        let name = "\(content)-\(Hexadecimal.encode(Array(SHA256.hash(data: key).prefix(8))))"
        return client.address.key(StoreLayout.temporary.appending(FileName(unchecked: Array(name.utf8) + ending)))
    }

    /// Whether a note is at a key.
    static func isPlace(_ key: [UInt8]) -> Bool { key.suffix(ending.count).elementsEqual(ending) }

    init(key: [UInt8], upload: String) {
        self.key = key
        self.upload = upload
    }

    /// The note at `place`; nil where there is none that can be read.
    init?(at place: [UInt8], _ client: S3Client) async throws(ProviderError) {
        guard let bytes = try await client.get(place, limit: Self.limit) else { return nil }
        let words = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard words.count == 2 else { return nil }
        key = PercentEncoding.decode(words[0])
        upload = String(decoding: PercentEncoding.decode(words[1]), as: UTF8.self)
    }

    func write(to place: [UInt8], _ client: S3Client) async throws(ProviderError) {
        let text = "\(PercentEncoding.encode(key)) \(PercentEncoding.encode(upload.utf8))\n"
        let answer = try await client.put(place, .bytes(Array(text.utf8)), .none)
        guard answer.isSuccess else { throw client.error(answer, "an upload in parts cannot be begun") }
    }
}
