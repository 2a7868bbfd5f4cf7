import QuireCore
import QuireProviders
import Testing

extension ProviderConformance {
    private func storage(_ provider: any DocumentProvider) throws -> any ThumbnailStorage {
        try #require(provider as? any ThumbnailStorage)
    }

    @Test("Thumbnails are stored, replaced, found by every device, and removed", arguments: ProviderForm.allCases)
    func thumbnails(form: ProviderForm) async throws {
        let bench = try await form.open()
        _ = try await bench.other.connect(expected: bench.identity)
        let (one, two) = (try storage(bench.provider), try storage(bench.other))
        #expect(try await one.thumbnail("0a-1") == nil)
        try await one.putThumbnail("0a-1", [1, 2, 3])
        #expect(try await two.thumbnail("0a-1") == [1, 2, 3])
        try await two.putThumbnail("0a-1", [4])
        #expect(try await one.thumbnail("0a-1") == [4])
        try await two.removeThumbnail("0a-1")
        try await two.removeThumbnail("0a-1")
        #expect(try await one.thumbnail("0a-1") == nil)
    }

    @Test(
        "The listing of thumbnails has all of them, and a later one tells whether any came or went",
        arguments: ProviderForm.allCases)
    func thumbnailListing(form: ProviderForm) async throws {
        let bench = try await form.open()
        let storage = try storage(bench.provider)
        try await storage.putThumbnail("a", [1, 2, 3])
        try await storage.putThumbnail("b", [1])
        let first = try #require(try await storage.thumbnails(since: nil))
        #expect(Set(first.entries.map { "\($0.name) \($0.size.bytes)" }) == ["a 3", "b 1"])
        try await storage.removeThumbnail("b")
        let second = try #require(try await storage.thumbnails(since: first.cursor))
        #expect(second.entries.map(\.name) == ["a"])
        try await storage.putThumbnail("c", [1])
        #expect(try await storage.thumbnails(since: second.cursor)?.entries.count == 2)
    }

    @Test("Thumbnails are in no listing of documents, and make none new", arguments: ProviderForm.allCases)
    func thumbnailsAreNoDocuments(form: ProviderForm) async throws {
        let bench = try await form.open()
        let before = try await bench.provider.changes(since: nil)
        try await storage(bench.provider).putThumbnail("a", [1])
        guard case .everything(let items, let next) = try await bench.provider.changes(since: nil) else {
            Issue.record("a first listing tells everything")
            return
        }
        #expect(items.isEmpty)
        guard case .everything(_, let first) = before else { return }
        #expect(next == first)
    }

    @Test("Names that could be paths are refused", arguments: ProviderForm.allCases)
    func thumbnailNames(form: ProviderForm) async throws {
        let bench = try await form.open()
        let storage = try storage(bench.provider)
        for name in ["", "../a", "a/b", "A", ".", String(repeating: "a", count: 65)] {
            #expect(await refusal { try await storage.putThumbnail(name, [1]) } == .invalidName)
            #expect(await refusal { _ = try await storage.thumbnail(name) } == .invalidName)
        }
    }
}
