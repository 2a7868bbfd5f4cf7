import QuireCore

/// Brings one document to a store with one request.
struct S3WholeUpload: Sendable {
    let client: S3Client
    let abilities: S3Abilities
    let path: RelativePath
    let body: HTTPRequest.Body
    /// SHA-256 of the body, which the store compares.
    let checksum: ContentChecksum
    /// What the object is to remember.
    let fields: HTTPFields
    let condition: S3Client.Condition
    /// Most that the request may take; nil for as long as bytes flow.
    var timeLimit: Duration?

    /// The answer to what published it.
    func run() async throws(ProviderError) -> HTTPAnswer {
        var fields = fields
        fields["x-amz-content-sha256"] = checksum.description
        fields[S3Checksum.field] = Base64.encode(checksum.bytes)
        let sent = fields
        let key = client.address.key(path)
        return try await S3Vacancy(client: client, abilities: abilities).publish(path, condition) {
            (condition) async throws(ProviderError) in
            try await client.put(key, body, condition, fields: sent, timeLimit: timeLimit)
        }
    }
}
