import QuireCore
import QuireTestSupport
import Testing

@testable import QuireProviders

/// Whether a provider takes names for the same is found by trying it.
@Suite("Names that are one place", .timeLimit(.minutes(1)))
struct FoldingProbeTests {
    /// The stand-in keeps names as Swift's strings, which are equal where they are canonically equivalent.
    @Test("A server's folding of names is found", arguments: [[], .letterCase] as [NameFolding])
    func server(_ folding: NameFolding) async throws {
        let server = try DAVStandIn(DAVStandIn.Manners(folding: folding))
        let provider = server.provider()
        _ = try await provider.connect(expected: nil)
        #expect(provider.capabilities.folding == folding.union(.normalization))
        #expect(throws: Never.self) { try provider.validate("Readme") }
    }

    @Test("A server that keeps lower-case letters only is not sent others")
    func lowered() async throws {
        let server = try DAVStandIn(DAVStandIn.Manners(lowersNames: true))
        let provider = server.provider()
        _ = try await provider.connect(expected: nil)
        #expect(provider.capabilities.folding.contains(.letterCase))
        #expect(throws: Never.self) { try provider.validate("readme 1/\u{E9}") }
        let refusal = #expect(throws: ProviderError.self) { try provider.validate("docs/Readme") }
        #expect(refusal?.code == .invalidName && refusal.map { "\($0)".contains("Readme") } == true)
    }

    @Test("A folder on a file system that sees all differences folds nothing")
    func folder() async throws {
        let directory = try TemporaryDirectory()
        let provider = FolderProvider(root: directory.path)
        _ = try await provider.connect(expected: nil)
        #expect(provider.capabilities.folding == [])
    }
}
