import Crypto
package import QuireCore

/// S3's requests, one method each, on one bucket.
package struct S3Client: Sendable {
    let transport: HTTPTransport
    let address: S3Address
    /// How to renew the access key and secret where others keep them; nil where Quire does.
    private let keysRemedy: String?

    /// - Parameters:
    ///   - signer: nil for a store that is open to everybody.
    ///   - pin: the only certificate to accept.
    ///   - traffic: what content passes through.
    package init(
        _ address: S3Address, signer: (any HTTPAuthorizer)?, pin: CertificatePin? = nil,
        limits: HTTPTransport.Limits = HTTPTransport.Limits(), traffic: Traffic = Traffic()
    ) {
        self.address = address
        keysRemedy = (signer as? S3RenewedSigner)?.remedy
        transport = HTTPTransport(
            origin: address.origin, pin: pin, authorizer: signer, limits: limits, traffic: traffic,
            explain: { S3Errors.words($0) })
    }

    /// A condition on the object that is there.
    enum Condition: Sendable {
        case none
        case absent
        /// As it is sent, quoted or not.
        case version(String)

        func add(to fields: inout HTTPFields) {
            switch self {
            case .none: break
            case .absent: fields["If-None-Match"] = "*"
            case .version(let tag): fields["If-Match"] = tag
            }
        }
    }

    func head(_ key: [UInt8]) async throws(ProviderError) -> HTTPAnswer {
        try await transport.send(HTTPRequest("HEAD", address.target(key), fields: S3Checksum.wish))
    }

    /// What an object's head says, or that there is none.
    ///
    /// - Throws: for every other answer: of a store that is busy for a moment nothing is known.
    func look(_ key: [UInt8]) async throws(ProviderError) -> HTTPAnswer {
        let answer = try await head(key)
        guard answer.isSuccess || answer.status == 404 else { throw error(answer, "\(name(key)) cannot be looked at") }
        return answer
    }

    /// The bytes of a small object; nil where there is none.
    func get(_ key: [UInt8], limit: Int) async throws(ProviderError) -> [UInt8]? {
        let answer = try await transport.send(HTTPRequest("GET", address.target(key)), limit: limit)
        if answer.status == 404 { return try absent(answer, "an object") }
        guard answer.isSuccess else { throw error(answer, "\(name(key)) cannot be read") }
        return answer.body
    }

    func put(
        _ key: [UInt8], _ body: HTTPRequest.Body, _ condition: Condition, fields: HTTPFields = [:],
        timeLimit: Duration? = nil
    ) async throws(ProviderError) -> HTTPAnswer {
        var fields = fields
        condition.add(to: &fields)
        return try await transport.send(
            HTTPRequest("PUT", address.target(key), fields: fields, body: body, timeLimit: timeLimit))
    }

    func delete(_ key: [UInt8], _ condition: Condition = .none) async throws(ProviderError) -> HTTPAnswer {
        var fields = HTTPFields()
        condition.add(to: &fields)
        return try await transport.send(HTTPRequest("DELETE", address.target(key), fields: fields))
    }

    /// Copies an object within the bucket, and has the store count its checksum if it can.
    ///
    /// - Parameters:
    ///   - size: of the object.
    ///   - metadata: what the copy is to remember; nil for what the object does.
    /// - Returns: the answer, and the copy's entity tag where it came about. A copy that fails half way says so with
    ///   status 200 and an error in the body.
    func copy(
        _ source: [UInt8], unchanged tag: String?, to key: [UInt8], _ condition: Condition, size: ByteCount,
        metadata: HTTPFields? = nil
    ) async throws(ProviderError) -> (answer: HTTPAnswer, entityTag: String?) {
        var fields = S3Checksum.copyWish
        if let metadata {
            fields["x-amz-metadata-directive"] = "REPLACE"
            for field in metadata.list { fields[field.name] = field.value }
        }
        fields["x-amz-copy-source"] = address.copySource(source)
        if let tag { fields["x-amz-copy-source-if-match"] = tag }
        condition.add(to: &fields)
        var request = HTTPRequest("PUT", address.target(key), fields: fields)
        request.workTime = RequestSilence.timeToWork(on: size)
        var answer = try await transport.send(request)
        if answer.status == 501 {
            // Some stores (R2) refuse the wish, and copy nothing.
            for wish in S3Checksum.copyWish.list { request.fields[wish.name] = nil }
            answer = try await transport.send(request)
        }
        let values = answer.isSuccess ? S3ElementReader.values(answer.body) : [:]
        if answer.isSuccess, values["Code"] != nil { answer.status = 500 }
        return (answer, answer.isSuccess ? values["ETag"].map { S3EntityTag.plain($0) } : nil)
    }

    /// A page of what begins with `prefix`.
    ///
    /// - Parameters:
    ///   - isShallow: what lies below a further slash comes as one common prefix.
    ///   - limit: most objects; nil for as many as the store gives.
    func list(
        _ prefix: [UInt8], isShallow: Bool = false, limit: Int? = nil, from token: String? = nil
    ) async throws(ProviderError) -> S3Page {
        var query = ["list-type=2", "encoding-type=url", "prefix=\(PercentEncoding.encode(prefix))"]
        if isShallow { query.append("delimiter=%2F") }
        if let limit { query.append("max-keys=\(limit)") }
        if let token { query.append("continuation-token=\(PercentEncoding.encode(token.utf8))") }
        let receiver = S3PageReader()
        let reader = try XMLReader(receiver)
        var size = 0
        var request = HTTPRequest(
            "GET", address.bucketTarget, query: query.sorted().joined(separator: "&"))
        request.isControl = true
        let answer = try await transport.receive(request) { (piece) throws(ProviderError) in
            size += piece.count
            guard size <= Self.pageLimit else {
                throw ProviderError(
                    .failed, "\(address.place): a page of its listing is longer than \(Self.pageLimit) bytes")
            }
            try reader.read(piece.bytes)
        }
        guard answer.isSuccess else { throw error(answer, "\(address.place) cannot be listed") }
        try reader.finish()
        return try receiver.finished()
    }

    /// Most bytes of one page: a thousand objects, with the longest keys there are.
    static let pageLimit = 16 << 20
    /// Most objects of one listing.
    private static let listingLimit = 5_000_000

    /// All that begins with `prefix`.
    func listAll(_ prefix: [UInt8]) async throws(ProviderError) -> [S3Object] {
        try await listAll(prefix, after: list(prefix))
    }

    /// The same, where the first page is there already.
    ///
    /// - Throws: `.failed` for a listing that leads back to where it was, or does not end.
    func listAll(_ prefix: [UInt8], after first: S3Page) async throws(ProviderError) -> [S3Object] {
        try await rest(prefix, after: first) { _, _ in true }.objects
    }

    /// The objects and the directories just below `prefix`, as one page.
    ///
    /// - Parameter goesOn: whether it does after so many pages and all that is in them; where it does not, `next` is there.
    func listLevel(
        _ prefix: [UInt8], while goesOn: (_ pages: Int, _ found: S3Page) -> Bool
    ) async throws(ProviderError) -> S3Page {
        try await rest(prefix, isShallow: true, after: list(prefix, isShallow: true), while: goesOn)
    }

    private func rest(
        _ prefix: [UInt8], isShallow: Bool = false, after first: S3Page, while goesOn: (Int, S3Page) -> Bool
    ) async throws(ProviderError) -> S3Page {
        var found = first
        var passed: Set<String> = []
        while let token = found.next, goesOn(passed.count + 1, found) {
            guard passed.insert(token).inserted, found.objects.count <= Self.listingLimit else {
                throw ProviderError(.failed, "\(address.place): the store's listing does not end")
            }
            let page = try await list(prefix, isShallow: isShallow, from: token)
            found.objects += page.objects
            found.prefixes += page.prefixes
            found.next = page.next
        }
        return found
    }

    /// What is below a directory, its marker included; two objects at least, where there are as many.
    func objects(below path: RelativePath) async throws(ProviderError) -> [S3Object] {
        let key = address.directoryKey(path)
        let first = try await list(key, limit: 2)
        let found = first.objects.filter { S3Sign($0) != .vacancy }
        guard found.count < first.objects.count, first.next != nil else { return found }
        return try await listAll(key, after: first).filter { S3Sign($0) != .vacancy }
    }

    /// An answer that is no success, as an error.
    func error(_ answer: HTTPAnswer, _ what: String) -> ProviderError {
        told(answer, what) ?? remedied(transport.error(answer, what))
    }

    /// As `S3Errors.error`, with what there is to do where Quire does not keep the secret.
    func told(_ answer: HTTPAnswer, _ what: String) -> ProviderError? {
        S3Errors.error(answer, what).map(remedied)
    }

    private func remedied(_ error: ProviderError) -> ProviderError {
        guard error.isSecretRefused, let keysRemedy else { return error }
        return ProviderError(error.code, "\(error.message); \(keysRemedy)", cause: error.cause)
    }

    /// An object that is not there, of a bucket that is.
    private func absent(_ answer: HTTPAnswer, _ what: String) throws(ProviderError) -> [UInt8]? {
        if let error = told(answer, what) { throw error }
        return nil
    }

    private func name(_ key: [UInt8]) -> String { String(decoding: key.dropFirst(address.prefix.count), as: UTF8.self) }
}
