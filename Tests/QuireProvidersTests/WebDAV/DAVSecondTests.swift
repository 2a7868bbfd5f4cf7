import QuireCore
import Testing

@testable import QuireProviders

/// Contents of one size that are written within one second of a server, whose clock stands still until a device waits.
@Suite("WebDAV servers whose versions are made of size and second")
struct DAVSecondTests {
    typealias Manners = DAVStandIn.Manners

    private static let still = Manners(secondsPerWrite: 0)
    private static let stillStaged = Manners(halfRefusal: "413 Content Too Large", secondsPerWrite: 0)
    /// The server's dates say nothing of its seconds.
    private static let skewed = [
        Manners(secondsPerWrite: 0, datesAhead: 10),
        Manners(halfRefusal: "413 Content Too Large", secondsPerWrite: 0, datesAhead: 10),
    ]

    /// A provider that has written `a`.
    private func account(_ manners: Manners) async throws -> (DAVStandIn, WebDAVProvider, RemoteItem) {
        let server = try DAVStandIn(manners)
        let provider = server.provider()
        _ = try await provider.connect(expected: nil)
        #expect(provider.abilities.isTimeBased)
        #expect(provider.abilities.putsWhole == (manners.halfRefusal == nil))
        let item = try await put(provider, "one!", .absent)
        _ = server.takeLog()
        return (server, provider, item)
    }

    private func put(_ provider: WebDAVProvider, _ text: String, _ expecting: Precondition) async throws -> RemoteItem {
        try await provider.putText(text, at: "a", expecting: expecting)
    }

    private func text(_ server: DAVStandIn) -> String? {
        server.with { state in state.nodes["a"].map { String(decoding: $0.content, as: UTF8.self) } }
    }

    @Test("A second lasts until the server's dates are past it, and what has no date is in its own")
    func rest() {
        let times = (0..<9).map { FileTime(seconds: $0, nanoseconds: 0) }
        #expect(DAVSecond.rest(times[5], told: times[5]) == .milliseconds(1100))
        #expect(DAVSecond.rest(times[6], told: times[5]) == .milliseconds(2100))
        #expect(DAVSecond.rest(times[4], told: times[5]) == nil)
        #expect(DAVSecond.rest(times[8], told: times[5]) == nil)
        #expect(DAVSecond.rest(nil, told: times[5]) == .milliseconds(1100))
        #expect(DAVSecond.rest(times[5], told: nil) == .milliseconds(1100))
    }

    @Test("What replaces a document within its second has another version at once", arguments: [still, stillStaged])
    func replaced(manners: Manners) async throws {
        let (server, provider, first) = try await account(manners)
        let second = try await put(provider, "two!", .version(first.version))
        #expect(second.version != first.version)
        let published = server.takeLog().filter { $0 == "PUT a" || $0.hasPrefix("MOVE .quire/tmp/") }
        #expect(published.count == 1)
    }

    @Test("It has one also where the server's dates do not tell its seconds", arguments: skewed)
    func replacedBlindly(manners: Manners) async throws {
        let (server, provider, first) = try await account(manners)
        let second = try await put(provider, "two!", .version(first.version))
        #expect(second.version != first.version)
        #expect(text(server) == "two!")
        #expect(try await provider.item(at: "a")?.version == second.version)
        #expect(server.with { state in !state.nodes.keys.contains { $0.hasPrefix(".quire/tmp/") } })
    }

    @Test("What is written where a document was a moment ago has another version", arguments: [still, stillStaged])
    func madeAnew(manners: Manners) async throws {
        let (_, provider, first) = try await account(manners)
        try await provider.delete("a", expecting: first.version)
        let second = try await put(provider, "two!", .absent)
        #expect(second.version != first.version)
        _ = try await provider.move("a", to: "b", expecting: second.version)
        let third = try await put(provider, "odd!", .absent)
        #expect(third.version != second.version && third.version != first.version)
    }

    @Test("What another program writes while a device waits for the second's end stays", arguments: 0..<3)
    func lookedAtAgain(action: Int) async throws {
        let (server, provider, item) = try await account(Self.still)
        server.with { $0.intrudeNextButOne(["PROPFIND"], "a") { state, _ in state.write("a", "else") } }
        let code = await refusal {
            switch action {
            case 0: _ = try await put(provider, "two!", .version(item.version))
            case 1: _ = try await provider.move("a", to: "z", expecting: item.version)
            default: try await provider.delete("a", expecting: item.version)
            }
        }
        #expect(code == .conditionFailed)
        #expect(text(server) == "else")
    }

    @Test("What is fetched within the second of its version is what has that version for ever")
    func fetched() async throws {
        // Nothing tells the checksum of what was there.
        let (server, provider, item) = try await account(Manners(keepsStamps: false, secondsPerWrite: 0))
        // Right after it was read for the first time.
        server.with { state in
            let then = state.seconds
            state.intrudeNextButOne(["GET"], "a") { state, _ in
                let now = state.seconds
                state.seconds = then
                state.write("a", "two!")
                state.seconds = now
            }
        }
        let work = try TemporaryDirectory()
        let target = work.appending("out")
        let fetched = try await provider.fetch("a", version: item.version, to: target) { _ in }
        #expect(fetched.version == item.version)
        #expect(fetched.checksum == ContentChecksum.sha256(of: Array("two!".utf8)))
        #expect(Plain.read(target).map { String(decoding: $0, as: UTF8.self) } == "two!")
    }

    @Test("Parts that are fetched are of one content")
    func fetchedInParts() async throws {
        let (server, provider, item) = try await account(Self.still)
        let work = try TemporaryDirectory()
        let target = work.appending("out")
        Plain.write([0, 0, 0, 0], to: Array(target.utf8))
        _ = try await provider.fetch("a", version: item.version, range: 0..<2, into: target) { _ in }
        server.with { _ = $0.write("a", "two!") }
        let code = await refusal {
            try await provider.fetch("a", version: item.version, range: 2..<4, into: target) { _ in }
        }
        #expect(code == .conditionFailed)
        #expect(Plain.read(target)?.prefix(2) == Array("on".utf8)[...])
    }

    @Test("Documents whose second is over take the requests that they take elsewhere")
    func requests() async throws {
        var logs: [[String]] = []
        for manners in [Self.still, Manners()] {
            let server = try DAVStandIn(manners)
            let provider = server.provider()
            _ = try await provider.connect(expected: nil)
            var item = try await put(provider, "one!", .absent)
            _ = server.takeLog()
            let work = try TemporaryDirectory()
            server.with { $0.seconds += 1 }
            item = try await provider.fetch("a", version: item.version, to: work.appending("out")) { _ in }
            item = try await put(provider, "two!", .version(item.version))
            server.with { $0.seconds += 1 }
            item = try await provider.move("a", to: "b", expecting: item.version)
            try await provider.delete("b", expecting: item.version)
            logs.append(server.takeLog())
        }
        #expect(logs[0] == logs[1])
    }
}
