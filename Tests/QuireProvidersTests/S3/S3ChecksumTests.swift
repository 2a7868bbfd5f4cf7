import QuireCore
import Synchronization
import Testing

@testable import QuireProviders

/// Which checksums of objects are believed.
@Suite("S3 checksums")
struct S3ChecksumTests {
    @Test("A store that refuses to count a copy's checksum copies without")
    func refusedWish() async throws {
        let server = try LoopbackServer(steps: [
            { peer, request in
                let head = request.head.lowercased()
                guard head.contains("x-amz-copy-source: /b/a") else { return peer.answer("400 Bad Request", []) }
                if head.contains("x-amz-checksum-algorithm") { return peer.answer("501 Not Implemented", []) }
                peer.answer("200 OK", [], "<CopyObjectResult><ETag>\"1\"</ETag></CopyObjectResult>")
            }
        ])
        let copied = try await server.store.copy([0x61], unchanged: nil, to: [0x62], .none, size: .zero)
        #expect(copied.answer.isSuccess && copied.entityTag == "1")
    }

    @Test(
        "Another program's content is not taken for what the metadata says that it kept",
        arguments: S3UploadTests.stores)
    func overwritten(form: ProviderForm) async throws {
        let bench = try await form.open()
        let first = try await bench.put("d", "one")
        let one = ContentChecksum.sha256(of: Array("one".utf8))
        let two = ContentChecksum.sha256(of: Array("two".utf8))
        let client = try #require(bench.provider as? S3Provider).client
        let key = client.address.key("d")
        let before = try await client.head(key)
        var kept = HTTPFields()
        for field in before.fields.list where HTTPFields.isName(field.name, beginningWith: "x-amz-meta-") {
            kept[field.name] = field.value
        }
        #expect(kept["x-amz-meta-quire-sha256"] == one.description)
        #expect([nil, one].contains(try await bench.provider.item(at: "d")?.checksum))
        let overwritten = try await client.put(key, .bytes(Array("two".utf8)), .none, fields: kept)
        #expect(overwritten.isSuccess)
        for provider in [bench.provider, bench.other] {
            let item = try #require(try await provider.item(at: "d"))
            #expect(item.version != first.version && item.size == first.size)
            #expect([nil, two].contains(item.checksum))
            let target = bench.work.appending("fetched \(UInt64.random(in: 0 ... .max))")
            let fetched = try await provider.fetch("d", version: item.version, to: target) { _ in }
            #expect(Plain.text(target) == "two" && fetched.checksum == two)
        }
    }

    @Test("A store that keeps checksums tells them")
    func told() async throws {
        guard TestServer.started["seaweedfs"] != nil else { return }
        let bench = try await ProviderForm.seaweedfs.open()
        try await bench.put("d", "one")
        #expect(try await bench.other.item(at: "d")?.checksum == .sha256(of: Array("one".utf8)))
    }

    /// A store with one document, whose answers to GET have these fields and bodies, one after the other; the last stays.
    private func store(_ fields: [String], _ bodies: [String]) throws -> LoopbackServer {
        let count = Lock((written: 0, read: 0))
        let mark = String(decoding: StoreMark.fresh().bytes, as: UTF8.self)
        return try LoopbackServer { peer in
            while let request = peer.request() {
                if request.head.hasPrefix("GET /b/d ") {
                    let index = count.withLock { count in
                        defer { count.read += 1 }
                        return min(count.read, bodies.count - 1)
                    }
                    peer.answer("200 OK", ["ETag: \"7\""] + fields, bodies[index])
                } else if request.head.hasPrefix("GET /b/.quire/store.json ") {
                    peer.answer("200 OK", [], mark)
                } else if request.head.hasPrefix("GET") {
                    peer.answer("200 OK", [], "<ListBucketResult></ListBucketResult>")
                } else if request.head.hasPrefix("HEAD") || !request.head.lowercased().contains("if-") {
                    peer.answer("200 OK", ["ETag: \"0123\""])
                } else {
                    let isFirst = count.withLock { count in
                        defer { count.written += 1 }
                        return count.written == 0
                    }
                    if isFirst {
                        peer.answer("200 OK", ["ETag: \"0123\""])
                    } else {
                        peer.answer("412 Precondition Failed")
                    }
                }
            }
        }
    }

    /// The text that arrives.
    private func fetched(_ fields: [String], _ bodies: [String]) async throws -> String? {
        let server = try store(fields, bodies)
        let origin = HTTPOrigin(isSecure: false, host: "127.0.0.1", port: server.port)
        let address = S3Address(endpoint: origin, bucket: "b", prefix: "")
        let provider = S3Provider(client: S3Client(address, signer: nil))
        _ = try await provider.connect(expected: nil)
        let work = try TemporaryDirectory()
        let target = work.appending("fetched")
        do {
            let item = try await provider.fetch("d", version: ProviderVersion("7"), to: target) { _ in }
            let text = Plain.text(target)
            #expect(item.checksum == text.map { .sha256(of: Array($0.utf8)) })
            return text
        } catch {
            #expect(Plain.text(target) == nil, "nothing is left of what was refused")
            throw error
        }
    }

    @Test("What is not what the store says that it has is refused as corrupt")
    func corrupt() async throws {
        let sum = Base64.encode(ContentChecksum.sha256(of: Array("one".utf8)).bytes)
        #expect(try await fetched(["x-amz-checksum-sha256: \(sum)"], ["one"]) == "one")
        #expect(await refusal { try await fetched(["x-amz-checksum-sha256: \(sum)"], ["one!", "two"]) } == .corrupt)
    }

    @Test("What is not what the metadata says is fetched twice, and is corrupt where it comes different")
    func doubtful() async throws {
        let claim = ["x-amz-meta-quire-sha256: \(ContentChecksum.sha256(of: Array("one".utf8)))"]
        #expect(try await fetched(claim, ["one", "two"]) == "one")
        #expect(try await fetched(claim, ["onf", "one"]) == "one")
        #expect(try await fetched(claim, ["two", "two", "three"]) == "two")
        #expect(await refusal { try await fetched(claim, ["twi", "two", "twx"]) } == .corrupt)
    }
}
