import QuireCore
import Testing

@testable import QuireProviders

/// Servers that say two things of one document.
@Suite("Entity tags that are not the same everywhere", .timeLimit(.minutes(1)))
struct DAVOddTagsTests {
    @Test(
        "They are not used: what a listing tells is what a look tells",
        arguments: [.listings, .everySecond] as [DAVStandIn.OddTags])
    func odd(tags: DAVStandIn.OddTags) async throws {
        let server = try DAVStandIn(DAVStandIn.Manners(secondsPerWrite: 0.4, hasOwnTags: true, oddTags: tags))
        let provider = server.provider(pace: nil)
        _ = try await provider.connect(expected: nil)
        #expect(provider.client.entityTags.areIgnored)
        #expect(provider.abilities.isTimeBased && provider.abilities.tellsContents && !provider.abilities.tellsWritten)
        let written = try await provider.putText("text", at: "a")
        server.with { $0.seconds += 2 }
        var cursor: ChangeCursor?
        for turn in 0..<4 {
            switch try await provider.changes(since: cursor) {
            case .everything(let items, let next) where turn == 0:
                #expect(items.map(\.version) == [written.version])
                cursor = next
            case .none(let next): cursor = next
            default: Issue.record("something changed in turn \(turn)")
            }
            #expect(try await provider.item(at: "a")?.version == written.version)
        }
    }

    @Test(
        "Where it is the same, or changes once after a write, they are used",
        arguments: [nil, .firstLook] as [DAVStandIn.OddTags?])
    func used(tags: DAVStandIn.OddTags?) async throws {
        let server = try DAVStandIn(DAVStandIn.Manners(oddTags: tags))
        let provider = server.provider()
        _ = try await provider.connect(expected: nil)
        #expect(!provider.client.entityTags.areIgnored && !provider.abilities.isTimeBased)
    }

    @Test("A server that tells two times as well is refused, in words")
    func times() async throws {
        let server = try DAVStandIn(DAVStandIn.Manners(oddTags: .listings, oddTimes: true))
        let provider = server.provider()
        do {
            _ = try await provider.connect(expected: nil)
            Issue.record("it was taken")
        } catch {
            #expect(error.code == .unsupported && "\(error)".contains("in a listing"), "\(error)")
        }
        // Set right, it is of use.
        server.with { $0.manners.oddTags = nil }
        _ = try await provider.connect(expected: nil)
        #expect(!provider.client.entityTags.areIgnored)
    }

    @Test("That they are not used is decided once: also where a later start finds them the same everywhere")
    func recalled() async throws {
        let server = try DAVStandIn(DAVStandIn.Manners(oddTags: .listings))
        let provider = server.provider()
        let identity = try await provider.connect(expected: nil)
        let decision = try #require(provider.decision)
        server.with { $0.manners.oddTags = nil }
        let next = server.provider()
        next.recall(decision)
        _ = try await next.connect(expected: identity)
        #expect(next.client.entityTags.areIgnored && next.decision == decision)
        let other = server.provider()
        _ = try await other.connect(expected: identity)
        #expect(other.decision == nil)
    }

    @Test("An account that is full is looked at for that, too")
    func full() async throws {
        let server = try DAVStandIn(DAVStandIn.Manners(locks: true))
        let identity = try await server.provider().connect(expected: nil)
        server.with { state in
            state.nodes[".quire/locks/a"] = DAVStandIn.Node(isCollection: true, tag: 1)
            state.nodes[".quire/locks"]?.names.insert("a")
            state.manners.oddTags = .listings
            state.trouble = DAVStandIn.Trouble(status: "507 Insufficient Storage", method: "PUT")
        }
        let provider = server.provider()
        _ = try await provider.connect(expected: identity)
        #expect(provider.capabilities.conditionalWrites == .locked && provider.decision != nil)
    }
}
