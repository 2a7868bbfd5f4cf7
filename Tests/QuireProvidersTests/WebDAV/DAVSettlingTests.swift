import QuireCore
import Testing

@testable import QuireProviders

/// Servers whose versions are made of size and seconds: two contents of one second look the same.
@Suite("Versions of WebDAV servers that are made of seconds")
struct DAVSettlingTests {
    private static let lags = [0, 30, -30]

    private func account(
        lag: Int = 0, movesRenew: Bool = false
    ) async throws -> (server: DAVStandIn, provider: WebDAVProvider) {
        let server = try DAVStandIn(
            DAVStandIn.Manners(keepsStamps: false, isTimed: true, movesRenew: movesRenew, clockLag: lag))
        let provider = server.provider()
        _ = try await provider.connect(expected: nil)
        return (server, provider)
    }

    private func put(
        _ provider: WebDAVProvider, _ path: RelativePath, _ text: String, _ expecting: Precondition = .absent
    ) async throws -> RemoteItem {
        let bytes = Array(text.utf8)
        return try await provider.put(
            path, direct: .bytes(bytes, .sha256(of: bytes)), attributes: Bench.attributes(), expecting: expecting)
    }

    private func listed(_ provider: WebDAVProvider, _ path: RelativePath) async throws -> RemoteItem? {
        guard case .everything(let items, _) = try await provider.changes(since: nil) else { return nil }
        return items.first { $0.path == path }
    }

    private func text(_ provider: WebDAVProvider, _ item: RemoteItem) async throws -> String {
        let work = try TemporaryDirectory()
        let path = work.appending("fetched")
        _ = try await provider.fetch(item.path, version: item.version, to: path) { _ in }
        return Plain.text(path) ?? ""
    }

    @Test("What another program writes right after an upload has another version", arguments: lags, [false, true])
    func afterUpload(lag: Int, movesRenew: Bool) async throws {
        let (server, provider) = try await account(lag: lag, movesRenew: movesRenew)
        let first = try await put(provider, "a", "zero")
        server.with { $0.intrusion = DAVStandIn.Intrusion(path: "a", over: "one", text: "two") }
        let item = try await put(provider, "a", "one", .version(first.version))
        #expect(server.with { $0.nodes["a"]?.content } == Array("two".utf8))
        let now = try #require(try await provider.item(at: "a"))
        #expect(now.version != item.version)
        #expect(try await text(provider, now) == "two")
        #expect(await refusal { try await put(provider, "a", "six", .version(item.version)) } == .conditionFailed)
    }

    @Test("New documents wait for no second, and are listed as they were uploaded")
    func new() async throws {
        let (server, provider) = try await account()
        _ = server.takeLog()
        let item = try await put(provider, "a", "one")
        let log = server.takeLog()
        #expect(!log.contains { $0.hasPrefix("MOVE") } && !DAVVersion.isUnsettled(item.version), "\(log)")
        #expect(try await listed(provider, "a")?.version == item.version)
    }

    @Test(
        "An upload's version is the one that is listed, also when it replaces another of the same size, or is moved",
        arguments: [false, true])
    func upload(movesRenew: Bool) async throws {
        let (server, provider) = try await account(movesRenew: movesRenew)
        let one = try await put(provider, "a", "one")
        let two = try await put(provider, "a", "two", .version(one.version))
        #expect(one.version != two.version)
        #expect(try await listed(provider, "a")?.version == two.version)
        #expect(try await text(provider, two) == "two")
        #expect(server.with { $0.nodes.keys.filter { $0.hasPrefix(".quire/tmp/") } } == [])
        let moved = try await provider.move("a", to: "b", expecting: two.version)
        #expect(try await listed(provider, "b")?.version == moved.version)
        try await provider.delete("b", expecting: moved.version)
    }

    @Test(
        "What another program writes after a look, a listing or a fetch has another version", arguments: lags,
        [false, true])
    func afterLook(lag: Int, isListing: Bool) async throws {
        let (server, provider) = try await account(lag: lag)
        server.with { _ = $0.write("a", "one") }
        let item = try #require(
            try await isListing ? listed(provider, "a") : provider.item(at: "a"))
        #expect(try await text(provider, item) == "one")
        server.with { _ = $0.write("a", "two") }
        let now = try #require(try await isListing ? listed(provider, "a") : provider.item(at: "a"))
        #expect(now.version != item.version)
        #expect(try await text(provider, now) == "two")
    }

    @Test("What another program writes after it was listed is neither replaced nor removed nor moved")
    func conditions() async throws {
        let (server, provider) = try await account()
        server.with { _ = $0.write("a", "one") }
        let known = try #require(try await listed(provider, "a")).version
        server.with { _ = $0.write("a", "two") }
        #expect(await refusal { try await put(provider, "a", "six", .version(known)) } == .conditionFailed)
        #expect(await refusal { try await provider.move("a", to: "b", expecting: known) } == .conditionFailed)
        #expect(await refusal { try await provider.delete("a", expecting: known) } == .conditionFailed)
        #expect(server.with { $0.nodes["a"]?.content } == Array("two".utf8))
    }

    @Test("A listing looks again at what was written within the last seconds, and at nothing else")
    func cheap() async throws {
        let (server, provider) = try await account()
        server.with { state in
            for index in 0..<20 { state.write("old-\(index)", "one", at: state.now - 60 * (index + 1)) }
            state.write("later", "one", at: state.now + 3600)
            state.write("new", "one")
        }
        _ = server.takeLog()
        let first = try #require(try await listed(provider, "new"))
        let log = server.takeLog()
        #expect(log.filter { $0.hasPrefix("PROPFIND") && !$0.contains(".quire") } == ["PROPFIND ", "PROPFIND new"])
        let again = try #require(try await listed(provider, "new"))
        #expect(again.version == first.version)
        #expect(!server.takeLog().contains("PROPFIND new"))
    }

    @Test("An upload into a directory that is not there makes none")
    func parent() async throws {
        let server = try DAVStandIn(DAVStandIn.Manners(isTimed: true, movesMakeCollections: true))
        let provider = server.provider()
        _ = try await provider.connect(expected: nil)
        #expect(await refusal { try await put(provider, "no/a", "one") } == .parentMissing)
        #expect(server.with { $0.nodes["no"] } == nil)
    }

    @Test("Attributes are not kept where they change the second that a version is made of")
    func retagged() async throws {
        let server = try DAVStandIn(DAVStandIn.Manners(stampsRetag: true, isTimed: true))
        let provider = server.provider()
        _ = try await provider.connect(expected: nil)
        #expect(!provider.capabilities.attributes)
    }

    @Test("Entity tags that are made of seconds prove no more than these, and others are believed at once")
    func tags() throws {
        let answered = ContinuousClock.now
        let date = FileTime(seconds: 1_700_000_000, nanoseconds: 0)
        var resource = DAVResource(size: 1, modified: date, entityTag: "\"x\"")
        resource.seen = DAVSight(
            HTTPAnswer(status: 207, fields: ["Date": HTTPDate.format(date)]), sent: answered, answered: answered)
        let items = try [true, false, true].map { try resource.item("a", DAVReading(isTimeBased: $0)) }
        #expect(DAVVersion.isUnsettled(items[0].version) && items[0].version != items[2].version)
        #expect(items[1].version == ProviderVersion("e-x"))
        resource.modified = FileTime(seconds: date.seconds - 2, nanoseconds: 0)
        #expect(try resource.item("a", DAVReading(isTimeBased: true)).version == ProviderVersion("e-x"))
    }

    /// - Parameters:
    ///   - age: by how many seconds the document's time is before the answer's.
    ///   - took: how long the server took to answer.
    private func isRecent(age: Int, took: Duration = .milliseconds(5), lead: Duration = .zero) -> Bool {
        let date = FileTime(seconds: 1_700_000_000, nanoseconds: 0)
        let head = HTTPAnswer(status: 207, fields: ["Date": HTTPDate.format(date)])
        let answered = ContinuousClock.now
        var resource = DAVResource()
        resource.seen = DAVSight(head, sent: answered - took, answered: answered)
        resource.modified = FileTime(seconds: date.seconds - age, nanoseconds: 0)
        return DAVReading(isTimeBased: true, clockLead: lead).isRecent(resource)
    }

    @Test("A document is recent unless another second had certainly begun by the server's clock when it was looked at")
    func recent() {
        #expect(isRecent(age: 0) && isRecent(age: 1) && !isRecent(age: 2))
        #expect(isRecent(age: 20, took: .seconds(30)) && !isRecent(age: 32, took: .seconds(30)))
        #expect(isRecent(age: -1) && !isRecent(age: -10))
        #expect(isRecent(age: 61, lead: .seconds(-60)) && !isRecent(age: 1, lead: .seconds(-60)))
        #expect(isRecent(age: -60, lead: .seconds(60)) && !isRecent(age: -58, lead: .seconds(60)))
        #expect(DAVSight(HTTPAnswer(status: 207), sent: .now, answered: .now) == nil)
    }
}
