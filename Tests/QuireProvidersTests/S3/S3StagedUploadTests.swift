import QuireCore
import Testing

@testable import QuireProviders

/// What was sent to a name of its own.
@Suite("S3 uploads that are staged")
struct S3StagedUploadTests {
    private static let checksum = ContentChecksum.sha256(of: [1])
    private static let size: Int64 = 40 << 20
    private static let staged = "/b/.quire/tmp/\(checksum)"

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
        server.with { $0.staged = [Self.staged: (Self.size, Self.checksum)] }
        var abilities = S3Abilities()
        (abilities.createsOnce, abilities.copiesChecked) = (true, true)
        let haste = S3Haste()
        haste.noteSlow()
        let upload = S3Upload(
            client: server.client, abilities: abilities, path: "d",
            content: UploadContent(snapshotPath: "/nowhere", size: ByteCount(Self.size), checksum: Self.checksum),
            fields: [:], condition: .absent, haste: haste, mostInOne: S3Upload.mostInOne)
        let answer = try await upload.run()
        #expect(answer.isSuccess == (body.contains("CopyObjectResult")))
        #expect(server.with { $0.log }.contains("DELETE \(Self.staged)") == isRemoved)
    }
}
