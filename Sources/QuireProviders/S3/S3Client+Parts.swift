import QuireCore

/// Uploads in parts.
extension S3Client {
    struct Part: Sendable {
        var entityTag: String
        var size: Int64
        /// When it came, by the store's clock.
        var modified = FileTime.unknown
    }

    struct Upload: Sendable {
        var key: [UInt8]
        var id: String
        var begun: FileTime
    }

    func beginUpload(_ key: [UInt8], _ fields: HTTPFields) async throws(ProviderError) -> String {
        let answer = try await transport.send(
            HTTPRequest("POST", address.target(key), query: "uploads=", fields: fields, body: .bytes([])))
        guard answer.isSuccess, let id = S3ElementReader.values(answer.body)["UploadId"] else {
            throw error(answer, "an upload in parts cannot be begun")
        }
        return id
    }

    func putPart(
        _ key: [UInt8], _ upload: String, _ number: Int, _ body: HTTPRequest.Body, fields: HTTPFields
    ) async throws(ProviderError) -> HTTPAnswer {
        try await transport.send(
            HTTPRequest(
                "PUT", address.target(key),
                query: "partNumber=\(number)&uploadId=\(PercentEncoding.encode(upload.utf8))", fields: fields,
                body: body))
    }

    /// Publishes the parts, of `size` bytes together. An answer that fails half way says so with status 200 and an error in the body.
    func complete(
        _ key: [UInt8], _ upload: String, _ tags: [String], _ condition: Condition, size: ByteCount
    ) async throws(ProviderError) -> HTTPAnswer {
        let parts = tags.enumerated().map {
            "<Part><PartNumber>\($0.offset + 1)</PartNumber><ETag>\"\($0.element)\"</ETag></Part>"
        }
        let body = "<CompleteMultipartUpload>\(parts.joined())</CompleteMultipartUpload>"
        var fields = HTTPFields()
        condition.add(to: &fields)
        var request = HTTPRequest(
            "POST", address.target(key), query: "uploadId=\(PercentEncoding.encode(upload.utf8))", fields: fields,
            body: .bytes(Array(body.utf8)))
        request.workTime = RequestSilence.timeToWork(on: size)
        var answer = try await transport.send(request)
        guard answer.isSuccess else { return answer }
        let values = S3ElementReader.values(answer.body)
        if values["Code"] != nil { answer.status = 500 } else { answer.fields["ETag"] = values["ETag"] }
        return answer
    }

    /// The parts that the store has of an upload, by number; nil where there is no such upload.
    func parts(_ key: [UInt8], _ upload: String) async throws(ProviderError) -> [Int: Part]? {
        var parts: [Int: Part] = [:]
        var marker: String?
        var passed: Set<String> = []
        repeat {
            var query = "uploadId=\(PercentEncoding.encode(upload.utf8))"
            if let marker { query = "part-number-marker=\(marker)&\(query)" }
            let receiver = S3PartsReader()
            let answer = try await read(HTTPRequest("GET", address.target(key), query: query), receiver)
            if answer.status == 404 { return nil }
            parts.merge(receiver.parts) { $1 }
            marker = receiver.next
            if let marker, !passed.insert(marker).inserted {
                throw ProviderError(.failed, "\(address.place): the list of an upload's parts does not end")
            }
        } while marker != nil
        return parts
    }

    /// The uploads whose keys begin with `prefix` and that are not ended; the first thousand.
    func uploads(_ prefix: [UInt8]) async throws(ProviderError) -> [Upload] { try await listUploads(prefix).uploads }

    /// The same, and whether there are no more.
    func listUploads(_ prefix: [UInt8]) async throws(ProviderError) -> (uploads: [Upload], areAll: Bool) {
        let receiver = S3UploadsReader()
        let query = "prefix=\(PercentEncoding.encode(prefix))&uploads="
        let answer = try await read(HTTPRequest("GET", address.bucketTarget, query: query), receiver)
        guard answer.isSuccess else { throw error(answer, "the uploads in parts cannot be listed") }
        return (receiver.uploads, !receiver.isTruncated)
    }

    /// Ends an upload, if it has not ended.
    func abort(_ upload: Upload) async throws(ProviderError) {
        let answer = try await transport.send(
            HTTPRequest(
                "DELETE", address.target(upload.key), query: "uploadId=\(PercentEncoding.encode(upload.id.utf8))"))
        guard answer.isSuccess || answer.status == 404 else {
            throw error(answer, "an upload in parts cannot be ended")
        }
    }

    /// - Returns: the answer, which is 404 where there is nothing to read.
    private func read(
        _ request: HTTPRequest, _ receiver: any XMLReceiver
    ) async throws(ProviderError) -> HTTPAnswer {
        let reader = try XMLReader(receiver)
        let answer = try await transport.receive(request) { (piece) throws(ProviderError) in
            try reader.read(piece.bytes)
        }
        let what = "the parts of an upload cannot be listed"
        if answer.status == 404 {
            // Or the bucket is gone.
            if let error = told(answer, what), error.code == .unavailable { throw error }
            return answer
        }
        guard answer.isSuccess else { throw error(answer, what) }
        try reader.finish()
        return answer
    }
}

private final class S3PartsReader: XMLReceiver {
    private(set) var parts: [Int: S3Client.Part] = [:]
    private var part = S3Client.Part(entityTag: "", size: 0)
    private var number = 0
    private var isTruncated = false
    private var marker: String?
    var next: String? { isTruncated ? marker : nil }

    func begin(space: String, name: String) {}

    func end(space: String, name: String, text: String) {
        switch name {
        case "PartNumber": number = Int(text) ?? 0
        case "ETag": part.entityTag = S3EntityTag.plain(text)
        case "Size": part.size = Int64(text) ?? 0
        case "LastModified": part.modified = HTTPDate.parse(text) ?? .unknown
        case "Part":
            parts[number] = part
            part.modified = .unknown
        case "IsTruncated": isTruncated = text == "true"
        case "NextPartNumberMarker": marker = text
        default: break
        }
    }
}

private final class S3UploadsReader: XMLReceiver {
    private(set) var uploads: [S3Client.Upload] = []
    private(set) var isTruncated = false
    private var upload: S3Client.Upload?

    func begin(space: String, name: String) {
        if name == "Upload" { upload = .init(key: [], id: "", begun: .unknown) }
    }

    func end(space: String, name: String, text: String) {
        switch name {
        case "Upload":
            if let upload { uploads.append(upload) }
            upload = nil
        case "Key": upload?.key = Array(text.utf8)
        case "UploadId": upload?.id = text
        case "IsTruncated": isTruncated = text == "true"
        case "Initiated": upload?.begun = HTTPDate.parse(text) ?? .unknown
        default: break
        }
    }
}
