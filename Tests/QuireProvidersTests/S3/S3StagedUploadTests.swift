import QuireCore
import Testing

@testable import QuireProviders

/// What was sent to a name of its own, and uploads in parts that take long.
@Suite("S3 uploads that are staged")
struct S3StagedUploadTests {
    private static let checksum = ContentChecksum.sha256(of: [1])
    private static let size: Int64 = 40 << 20
    private static let staged = "/b/.quire/tmp/\(checksum)"

    /// Of a document whose content lies at the server already, and not here.
    private func stagedUpload(_ server: S3StandIn, fields: HTTPFields) -> S3Upload {
        server.with { $0.staged = [Self.staged: (Self.size, Self.checksum)] }
        var abilities = S3Abilities()
        (abilities.createsOnce, abilities.copiesChecked) = (true, true)
        let haste = S3Haste()
        haste.noteSlow()
        return S3Upload(
            client: server.client, abilities: abilities, path: "d",
            content: UploadContent(snapshotPath: "/nowhere", size: ByteCount(Self.size), checksum: Self.checksum),
            fields: fields, condition: .absent, haste: haste, mostInOne: S3Upload.mostInOne)
    }

    @Test(
        "What was staged is removed once it is of no use, and not for a copy that failed",
        arguments: [
            ("200 OK", "<CopyObjectResult><ETag>\"1\"</ETag></CopyObjectResult>", true),
            ("412 Precondition Failed", "", true),
            ("200 OK", "<Error><Code>InternalError</Code></Error>", false),
            ("500 Internal Server Error", "", false), ("503 Service Unavailable", "", false),
            ("504 Gateway Timeout", "", false), ("409 Conflict", "", false), ("403 Forbidden", "", false),
        ])
    func failedCopy(status: String, body: String, isRemoved: Bool) async throws {
        let server = try S3StandIn(.encoded, [.init(beginning: "PUT /b/d", status: status, body: body)])
        let upload = stagedUpload(server, fields: [:])
        let answer = try await upload.run()
        #expect(answer.isSuccess == (body.contains("CopyObjectResult")))
        #expect(server.with { $0.log }.contains("DELETE \(Self.staged)") == isRemoved)
    }

    @Test("What was staged is published with the time and mode that the document has by now")
    func otherAttributes() async throws {
        let body = "<CopyObjectResult><ETag>\"1\"</ETag></CopyObjectResult>"
        let server = try S3StandIn(.encoded, [.init(beginning: "PUT /b/d", body: body)])
        let fields: HTTPFields = [S3Metadata.mode: "755", S3Metadata.mtime: "7.5"]
        let answer = try await stagedUpload(server, fields: fields).run()
        #expect(answer.isSuccess)
        let copy = try #require(server.with { $0.heads.first { $0.hasPrefix("put /b/d ") } })
        for line in ["x-amz-metadata-directive: replace", "x-amz-meta-quire-mode: 755", "x-amz-meta-mtime: 7.5"] {
            #expect(copy.contains("\r\n\(line)\r\n"), "\(line)")
        }
    }

    private static let now = HTTPDate.parse("Sun, 22 Nov 2026 10:00:00 GMT") ?? .unknown

    @Test(
        "An upload in parts that began more than a week ago goes on as long as parts of it come",
        arguments: [("2026-11-15T11:00:00Z", false), ("2026-11-15T09:00:00Z", true), (nil, true)] as [(String?, Bool)],
        [true, false])
    func longUploads(last: (part: String?, isEnded: Bool), isInPlace: Bool) async throws {
        let (lastPart, isEnded) = last
        let (old, part) = ("<LastModified>2026-11-10T10:00:00Z</LastModified>", lastPart ?? "")
        let key = isInPlace ? "d" : ".quire/tmp/\(Self.checksum)"
        let note = "/b/.quire/tmp/x.upload"
        let notes =
            isInPlace ? "<Contents><Key>.quire/tmp/x.upload</Key><Size>4</Size>\(old)</Contents>" : ""
        let uploads =
            isInPlace
            ? "" : "<Upload><Key>\(key)</Key><UploadId>7</UploadId><Initiated>2026-11-10T10:00:00Z</Initiated></Upload>"
        let first = "<Part><PartNumber>1</PartNumber>\(old)<ETag>1</ETag><Size>1</Size></Part>"
        let second = "<Part><PartNumber>2</PartNumber><LastModified>\(part)</LastModified><Size>1</Size></Part>"
        let parts = lastPart == nil ? "" : first + second
        let server = try S3StandIn(
            .plain,
            [
                .init(
                    beginning: "GET /b?encoding-type=url&list-type=2&prefix=.quire%2Ftmp%2F",
                    body: "<ListBucketResult>\(notes)</ListBucketResult>"),
                .init(
                    beginning: "GET /b?prefix=.quire%2Ftmp%2F&uploads=",
                    body: "<ListMultipartUploadsResult>\(uploads)</ListMultipartUploadsResult>"),
                .init(beginning: "GET \(note)", body: "d 7\n"),
                .init(beginning: "GET /b/\(key)?", body: "<ListPartsResult>\(parts)</ListPartsResult>"),
                .init(beginning: "DELETE /b/\(key)?uploadId=7", status: "204 No Content"),
            ])
        await S3Sweep(client: server.client).run(at: Self.now)
        let log = server.with { $0.log }
        #expect(log.contains("DELETE /b/\(key)?uploadId=7") == isEnded)
        #expect(log.contains("DELETE \(note)") == (isEnded && isInPlace))
    }
}
