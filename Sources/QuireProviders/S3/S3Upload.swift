import Crypto
import Glibc
import QuireCore

/// Brings one document to a store.
///
/// A large one goes with one request as long as the way to the store is quick (`S3Haste`). Else, and where it is very large, or
/// was begun in parts, it goes in parts, one after the other, to a name of Quire's own that its content gives, and is copied
/// to its place under the condition: no store publishes parts under a condition reliably. The store itself remembers the
/// parts, so an upload that was cut goes on with the first part that is missing, whoever begins it again.
///
/// What is too large for a copy goes in parts to its own key, each content in an upload of its own (`S3UploadNote`).
struct S3Upload: Sendable {
    let client: S3Client
    let abilities: S3Abilities
    let path: RelativePath
    let content: UploadContent
    /// What the object is to remember.
    let fields: HTTPFields
    let condition: S3Client.Condition
    let haste: S3Haste
    /// Most bytes of one request, and of one copy.
    let mostInOne: Int64

    /// What stores take at the most.
    static let mostInOne: Int64 = 5 << 30
    /// From here on it goes in parts where the way is slow.
    static let largeSize: Int64 = 32 << 20
    /// From here on it goes in parts.
    static let veryLargeSize: Int64 = 128 << 20
    static let partSize: Int64 = 16 << 20
    private static let mostParts: Int64 = 10_000

    private var key: [UInt8] { client.address.key(path) }

    /// The answer to what published it; on success with its ETag where the store tells.
    func run() async throws(ProviderError) -> HTTPAnswer {
        let size = content.size.bytes
        if size > mostInOne { return try await inPlace() }
        guard size > Self.largeSize, abilities.copiesChecked else { return try await atOnce() }
        let name = FileName(unchecked: Array(content.checksum.description.utf8))
        let staged = client.address.key(StoreLayout.temporary.appending(name))
        if size <= Self.veryLargeSize, !haste.isSlow, await !isBegun(staged) {
            let answer = try await haste.attempt { (limit) async throws(ProviderError) in
                try await atOnce(within: limit)
            }
            if let answer { return answer }
        }
        haste.begins(staged)
        var found = try await client.head(staged)
        if !isWhole(found) {
            let uploaded = try await inParts(staged, try await begun(staged), .none)
            if uploaded.status == 404 { throw gone(uploaded) }
            guard uploaded.isSuccess else { return uploaded }
            // The entity tag with which the end of the parts is answered is empty at some stores.
            found = try await client.head(staged)
        }
        guard isWhole(found), let tag = found.fields["ETag"] else {
            throw ProviderError(.failed, "\(path): the store does not have what was uploaded to it")
        }
        let answer = try await publish { (condition) async throws(ProviderError) in
            // What was staged, or begun, before, or by another device with the same content, has other attributes.
            var (answer, copied) = try await client.copy(
                staged, unchanged: tag, to: key, condition, size: content.size, metadata: fields)
            if answer.isSuccess { answer.fields["ETag"] = copied }
            return answer
        }
        if answer.status == 404, try await client.head(staged).status == 404 { throw gone(answer) }
        // A refused copy is not tried again with the same content; one that failed is. What stays is swept another day.
        if answer.isSuccess || answer.status == 412 {
            _ = try? await client.delete(staged)
            haste.ended(staged)
        }
        return answer
    }

    /// Whether some of the content is at the store, by an upload that was cut.
    private func isBegun(_ staged: [UInt8]) async -> Bool {
        if let isBegun = haste.isBegun(staged) { return isBegun }
        if (try? await client.uploads(staged))?.contains(where: { $0.key == staged }) ?? false { return true }
        return (try? await client.head(staged).isSuccess) ?? false
    }

    /// Another device with the same content has published what was staged, and removed it, or it was swept.
    private func gone(_ answer: HTTPAnswer) -> ProviderError {
        let what = "\(path) cannot be written"
        return client.told(answer, what) ?? S3Errors.gone(answer, what)
    }

    private func isWhole(_ staged: HTTPAnswer) -> Bool {
        staged.isSuccess && staged.fields["Content-Length"] == "\(content.size.bytes)"
            && staged.fields[S3Metadata.checksum] == content.checksum.description
    }

    private func atOnce(within limit: Duration? = nil) async throws(ProviderError) -> HTTPAnswer {
        try await S3WholeUpload(
            client: client, abilities: abilities, path: path,
            body: .file(path: content.snapshotPath, offset: 0, length: content.size.bytes, checksum: content.checksum),
            checksum: content.checksum, fields: fields, condition: condition, timeLimit: limit
        ).run()
    }

    private func publish(
        _ request: (S3Client.Condition) async throws(ProviderError) -> HTTPAnswer
    ) async throws(ProviderError) -> HTTPAnswer {
        try await S3Vacancy(client: client, abilities: abilities).publish(path, condition, request)
    }

    /// Sends parts to the document's own key, and looks at what is there then.
    private func inPlace() async throws(ProviderError) -> HTTPAnswer {
        let note = S3UploadNote.place(key, content.checksum, client)
        let answer = try await inParts(key, try await begun(noted: note), condition)
        guard answer.isSuccess else { return answer }
        let found = try await client.head(key)
        // What stays is swept another day; it names an upload that has ended.
        _ = try? await client.delete(note)
        guard isWhole(found) else { throw ProviderError.refused(path) }
        return found
    }

    /// An upload, with the parts that the store has of it.
    private typealias Begun = (upload: String, parts: [Int: S3Client.Part])

    private func inParts(
        _ key: [UInt8], _ begun: Begun, _ condition: S3Client.Condition
    ) async throws(ProviderError) -> HTTPAnswer {
        let size = content.size.bytes
        let partSize = max(Self.partSize, (size + Self.mostParts - 1) / Self.mostParts)
        let (upload, there) = begun
        var tags: [String] = []
        var whole = SHA256()
        for number in 1...Int((size + partSize - 1) / partSize) {
            let offset = Int64(number - 1) * partSize
            let length = min(partSize, size - offset)
            let digests = try await digests(offset, length, &whole)
            if let part = there[number], part.size == length, part.entityTag == digests.md5.hex {
                tags.append(part.entityTag)
            } else {
                tags.append(try await send(number, offset, length, digests, key, upload))
            }
        }
        // What has come is no document before it is completed.
        guard Array(whole.finalize()) == content.checksum.bytes else { throw FileBody.changed(content.snapshotPath) }
        return try await client.complete(key, upload, tags, condition, size: content.size)
    }

    /// The upload that was begun and not ended, or a new one.
    private func begun(_ key: [UInt8]) async throws(ProviderError) -> Begun {
        if let known = try await client.uploads(key).first(where: { $0.key == key }),
            let parts = try await client.parts(key, known.id)
        {
            return (known.id, parts)
        }
        return (try await client.beginUpload(key, fields), [:])
    }

    /// The upload to the document's own key that was begun with this content and not ended, or a new one.
    private func begun(noted note: [UInt8]) async throws(ProviderError) -> Begun {
        if let known = try await S3UploadNote(at: note, client), known.key == key,
            let parts = try await client.parts(key, known.upload)
        {
            return (known.upload, parts)
        }
        let upload = try await client.beginUpload(key, fields)
        try await S3UploadNote(key: key, upload: upload).write(to: note, client)
        return (upload, [:])
    }

    private func send(
        _ number: Int, _ offset: Int64, _ length: Int64, _ digests: Digests, _ key: [UInt8], _ upload: String
    ) async throws(ProviderError) -> String {
        let answer = try await client.putPart(
            key, upload, number, .file(path: content.snapshotPath, offset: offset, length: length),
            fields: [
                "x-amz-content-sha256": digests.sha256, "Content-MD5": Base64.encode(digests.md5.bytes),
            ])
        guard answer.isSuccess, let tag = answer.fields["ETag"] else {
            throw client.error(answer, "\(path) cannot be written")
        }
        return S3EntityTag.plain(tag)
    }

    private struct Digests: Sendable {
        var md5: (bytes: [UInt8], hex: String)
        var sha256: String
    }

    /// Reads a part once, for all that has to be known of it.
    ///
    /// - Parameter whole: the hash of all parts before, and then of this one too.
    private func digests(
        _ offset: Int64, _ length: Int64, _ whole: inout SHA256
    ) async throws(ProviderError) -> Digests {
        let (path, content, before) = (path, content, whole)
        let (digests, after) = try await client.transport.pool.run { (cancellation) throws(ProviderError) in
            var (md5, sha256, whole) = (Insecure.MD5(), SHA256(), before)
            try content.read(path, offset, length) { (bytes) throws(ProviderError) in
                try cancellation.check()
                md5.update(data: bytes)
                sha256.update(data: bytes)
                whole.update(data: bytes)
            }
            let digest = Array(md5.finalize())
            let digests = Digests(
                md5: (digest, Hexadecimal.encode(digest)),
                sha256: sha256.finalize().withUnsafeBytes { Hexadecimal.encode($0) })
            return (digests, whole)
        }
        whole = after
        return digests
    }
}
