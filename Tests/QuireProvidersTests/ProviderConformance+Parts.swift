import Foundation
import QuireCore
import QuireProviders
import Synchronization
import Testing

extension ProviderConformance {
    @Test("Parts of a document come at their places, and nothing else is touched", arguments: ProviderForm.allCases)
    func parts(form: ProviderForm) async throws {
        let bench = try await form.open()
        let bytes = (0..<(3 << 20) + 17).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        let item = try await bench.provider.put(
            "large", content: bench.content(bytes), attributes: Bench.attributes(), expecting: .absent)
        var expected = [UInt8](repeating: 0xEE, count: bytes.count)
        let file = bench.work.appending("part")
        try Data(expected).write(to: URL(filePath: file))
        for range in [5..<6, 1 << 20..<(2 << 20) + 7, Int64(bytes.count - 3)..<Int64(bytes.count)] as [Range<Int64>] {
            let heard = Lock(ByteCount.zero)
            let found: RemoteItem
            do throws(ProviderError) {
                found = try await bench.provider.fetch("large", version: item.version, range: range, into: file) {
                    bytes in
                    heard.withLock { $0 = max($0, bytes) }
                }
            } catch {
                // Said plainly; the document comes whole then.
                #expect(error.code == .unsupported)
                return
            }
            #expect(found.version == item.version && found.size == item.size)
            #expect(heard.withLock { $0 }.bytes == Int64(range.count))
            for index in range { expected[Int(index)] = bytes[Int(index)] }
            #expect(try [UInt8](Data(contentsOf: URL(filePath: file))) == expected, "\(range)")
        }
    }

    @Test("No part comes of another version, of nothing, or from beyond the end", arguments: ProviderForm.allCases)
    func refusedParts(form: ProviderForm) async throws {
        let bench = try await form.open()
        let one = try await bench.put("a", "one one one")
        let file = bench.work.appending("part")
        try Data([9, 9, 9]).write(to: URL(filePath: file))
        let fetch = { (version: ProviderVersion, range: Range<Int64>) async throws -> Void in
            _ = try await bench.provider.fetch("a", version: version, range: range, into: file) { _ in }
        }
        let two = try await bench.put("a", "another", .version(one.version))
        let refusals: [ProviderError.Code?] = [.conditionFailed, .unsupported]
        #expect(refusals.contains(await refusal { try await fetch(one.version, 0..<3) }))
        #expect(refusals.contains(await refusal { try await fetch(two.version, 5..<9) }))
        try await bench.provider.delete("a", expecting: two.version)
        // Where a removed document leaves an object, that is another version.
        let gone: [ProviderError.Code?] = form == .ceph ? [.conditionFailed] : [.notFound, .unsupported]
        #expect(gone.contains(await refusal { try await fetch(two.version, 0..<3) }))
        #expect(try Data(contentsOf: URL(filePath: file)).count == 3)
    }
}
