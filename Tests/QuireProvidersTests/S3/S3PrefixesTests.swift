import QuireTestSupport
import Testing

@testable import QuireProviders

@Suite("Prefixes of a listing")
struct S3PrefixesTests {
    @Test("Each directory is in one part, and no part is much more than its share", arguments: 0..<40)
    func whole(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let letters = ["a", "b", "é", "e\u{301}", "日", " ", "-", "%", ".", "0", "1"]
        let count = Int.random(in: 1...2_000, using: &random)
        let longest = Int.random(in: 1...12, using: &random)
        let names = Set(
            (0..<count).map { _ in
                (0..<Int.random(in: 1...longest, using: &random)).map { _ in letters.randomElement(using: &random)! }
                    .joined()
            })
        let keys = names.map { Array("drive/\($0)/".utf8) }
        let parts = try #require(S3Prefixes(keys, width: 8, most: 256)).list
        for key in keys { #expect(parts.count { key.starts(with: $0) } == 1) }
        let sizes = parts.map { part in keys.count { $0.starts(with: part) } }
        #expect(sizes == sizes.sorted(by: >) && sizes.allSatisfy { $0 > 0 && ($0 <= max(1, keys.count / 8)) })
        #expect(parts.count <= 256 && parts.allSatisfy { String(validating: $0, as: UTF8.self) != nil })
    }

    @Test("Names of one beginning are divided where they differ")
    func numbers() throws {
        let keys = (0..<1_000).map { Array("directory \($0)/".utf8) }
        let parts = try #require(S3Prefixes(keys, width: 8, most: 256)).list
        #expect(
            parts.map { String(decoding: $0, as: UTF8.self) }.sorted().prefix(3) == [
                "directory 0/", "directory 1", "directory 2",
            ])
        #expect(parts.count == 10)
    }

    @Test("No more parts than asked for, none of nothing, and nil for what is no text")
    func bounds() throws {
        let keys = (0..<100).map { Array("\(UnicodeScalar(0x100 + UInt32($0))!)/".utf8) }
        #expect(try #require(S3Prefixes(keys, width: 1_000, most: 1)).list == [[]])
        #expect(try #require(S3Prefixes([], width: 8, most: 8)).list.isEmpty)
        #expect(try #require(S3Prefixes([Array("a/".utf8)], width: 8, most: 8)).list == [Array("a/".utf8)])
        #expect(S3Prefixes([[0xFF, 0x2F], [0x61, 0x2F]], width: 8, most: 8) == nil)
    }
}
