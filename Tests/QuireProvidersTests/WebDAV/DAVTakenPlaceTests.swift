import QuireCore
import Testing

@testable import QuireProviders

/// Other programs that put a document into the place of another one at the moment when that is moved or written.
@Suite("Documents of WebDAV servers in the place of others")
struct DAVTakenPlaceTests {
    typealias Manners = DAVStandIn.Manners

    /// A provider of a server where another program has written `a`.
    private func account(_ manners: Manners) async throws -> (DAVStandIn, WebDAVProvider, RemoteItem) {
        let server = try DAVStandIn(manners)
        let provider = server.provider()
        _ = try await provider.connect(expected: nil)
        server.with { _ = $0.write("a", "mine") }
        return (server, provider, try #require(try await provider.item(at: "a")))
    }

    /// The documents that are at the server.
    private func texts(_ server: DAVStandIn) -> [String: String] {
        server.with { state in
            state.nodes.filter { !$0.value.isCollection && !$0.key.hasPrefix(".quire/") }
                .mapValues { String(decoding: $0.content, as: UTF8.self) }
        }
    }

    private static func content(_ text: String) -> DirectContent {
        let bytes = Array(text.utf8)
        return .bytes(bytes, ContentChecksum.sha256(of: bytes))
    }

    private static let movers = [
        Manners(), Manners(heedsTags: ["MOVE"]), Manners(heedsTags: ["MOVE"], movesRetag: true),
    ]

    @Test("What came into a document's place before it is moved is not taken for that", arguments: movers)
    func swapped(manners: Manners) async throws {
        let (server, provider, item) = try await account(manners)
        server.with { state in
            state.write("b", "else")
            state.intruder = (
                ["MOVE"], "a",
                { state, _ in
                    state.move("a", to: "c")
                    state.move("b", to: "a")
                }
            )
        }
        #expect(await refusal { try await provider.move("a", to: "z", expecting: item.version) } == .conditionFailed)
        // Where nothing is refused it is found out afterwards, and by the pull.
        #expect(texts(server) == [manners.heedsTags.isEmpty ? "z" : "a": "else", "c": "mine"])
    }

    @Test(
        "A document is moved where nobody is in the way, whether it keeps its version or not",
        arguments: movers + [Manners(movesRetag: true)])
    func moved(manners: Manners) async throws {
        let (server, provider, item) = try await account(manners)
        let moved = try await provider.move("a", to: "z", expecting: item.version)
        #expect((moved.version == item.version) == !manners.movesRetag)
        #expect(texts(server) == ["z": "mine"])
        #expect(provider.abilities.moveCondition == (manners.heedsTags.isEmpty ? .none : .stateList))
        #expect(provider.abilities.movesVersions == !manners.movesRetag)
    }

    @Test(
        "What is written over a document right after it was sent does not get its checksum",
        arguments: [
            Manners(writtenTag: .listed), Manners(halfRefusal: "413 Content Too Large", writtenTag: .listed),
            Manners(halfRefusal: "413 Content Too Large"),
        ])
    func overwritten(manners: Manners) async throws {
        let (server, provider, item) = try await account(manners)
        server.with { $0.intrudeNextButOne(["PROPFIND"], "a") { state, _ in state.write("a", "else") } }
        let code = await refusal {
            try await provider.put(
                "a", direct: Self.content("sent"), attributes: Bench.attributes(), expecting: .version(item.version))
        }
        #expect(code == .conditionFailed)
        #expect(texts(server) == ["a": "else"])
        #expect(try await provider.item(at: "a")?.checksum == nil)
    }

    @Test("What a cache before the server has of a document is not taken for what is there")
    func cached() async throws {
        let (_, provider, item) = try await account(Manners(cached: "gone"))
        let work = try TemporaryDirectory()
        let fetched = try await provider.fetch("a", version: item.version, to: work.appending("out")) { _ in }
        #expect(fetched.checksum == ContentChecksum.sha256(of: Array("mine".utf8)))
    }

    @Test(
        "What is sent is known by the answer's entity tag where that is the one of listings",
        arguments: [DAVStandIn.WrittenTag?.none, .listed, .another], [false, true])
    func written(tag: DAVStandIn.WrittenTag?, isStaged: Bool) async throws {
        let (server, provider, item) = try await account(
            Manners(halfRefusal: isStaged ? "413 Content Too Large" : nil, writtenTag: tag))
        let sent = try await provider.put(
            "a", direct: Self.content("sent"), attributes: Bench.attributes(), expecting: .version(item.version))
        #expect(sent.checksum == ContentChecksum.sha256(of: Array("sent".utf8)))
        #expect(texts(server) == ["a": "sent"])
        #expect(provider.abilities.putsWhole == !isStaged)
        #expect(provider.abilities.tellsWritten == (tag == .listed))
    }
}

@Suite("WebDAV servers that change what they are sent")
struct DAVRemadeTests {
    typealias Manners = DAVStandIn.Manners

    private static func manners(
        locks: Bool = false, isStaged: Bool = false, tag: DAVStandIn.WrittenTag? = nil
    ) -> Manners {
        Manners(
            halfRefusal: isStaged ? "413 Content Too Large" : nil, locks: locks, officeMark: " and more",
            writtenTag: tag)
    }

    private func put(
        _ manners: Manners
    ) async throws -> (DAVStandIn, WebDAVProvider, Result<RemoteItem, ProviderError>) {
        let server = try DAVStandIn(manners)
        let provider = server.provider()
        _ = try await provider.connect(expected: nil)
        do throws(ProviderError) {
            return (server, provider, .success(try await provider.putText("sent", at: "a.docx")))
        } catch {
            return (server, provider, .failure(error))
        }
    }

    @Test(
        "Where nobody else can have written, what is there is what the server made of it, without a checksum",
        arguments: [manners(tag: .listed), manners(locks: true), manners(locks: true, isStaged: true)])
    func certain(manners: Manners) async throws {
        let (server, provider, result) = try await put(manners)
        let item = try result.get()
        #expect(item.size == ByteCount(13) && item.checksum == nil)
        // In place of the checksum.
        #expect(server.with { $0.nodes["a.docx"]?.stamp }?.contains(" - ") == true)
        let seen = try await provider.item(at: "a.docx")
        #expect(seen?.version == item.version && seen?.checksum == nil && seen?.mtime == item.mtime)
    }

    @Test(
        "Where another device may have written it is refused, told as taken, with both sizes",
        arguments: [manners(), manners(isStaged: true), manners(isStaged: true, tag: .listed)])
    func uncertain(manners: Manners) async throws {
        let (_, _, result) = try await put(manners)
        let error = #expect(throws: ProviderError.self) { try result.get() }
        #expect(error?.code == .conditionFailed && error?.isTaken == true)
        #expect(error?.message.contains("4 bytes were, and 13 are at the server now") == true)
    }
}

@Suite("What a MOVE of a WebDAV server has brought")
struct DAVFindingTests {
    private static func found(
        _ version: String = "1", size: Int64 = 4, checksum: UInt8? = nil, modified: Int? = 1
    ) -> DAVFinding {
        DAVFinding(
            item: RemoteItem(
                path: "a", kind: .file, version: ProviderVersion(version), size: ByteCount(size), mtime: .unknown,
                checksum: checksum.map { ContentChecksum.sha256(of: [$0]) }), entityTag: nil,
            modified: modified.map { FileTime(seconds: $0, nanoseconds: 0) })
    }

    @Test("Checksums tell first, then versions, and else the condition, or the time where versions are not kept")
    func told() {
        let before = Self.found(checksum: 1)
        // What is found then, and what is told of it where versions are kept, under a condition, and under none.
        let cases: [(DAVFinding, Bool?, Bool?, Bool?)] = [
            (Self.found(), true, true, true),
            (Self.found(checksum: 1), true, true, true),
            (Self.found(checksum: 2), false, false, false),
            (Self.found(size: 5), false, false, false),
            (Self.found("2", checksum: 1), true, true, true),
            (Self.found("2", checksum: 2), false, false, false),
            (Self.found("2"), nil, true, true),
            (Self.found("2", modified: 2), nil, nil, nil),
            (Self.found("2", modified: nil), nil, nil, nil),
        ]
        for (after, kept, guarded, none) in cases {
            #expect(before.isMoved(as: after, keepsVersion: true, isGuarded: false) == kept, "\(after)")
            #expect(before.isMoved(as: after, keepsVersion: true, isGuarded: true) == guarded, "\(after)")
            #expect(before.isMoved(as: after, keepsVersion: false, isGuarded: true) == guarded, "\(after)")
            #expect(before.isMoved(as: after, keepsVersion: false, isGuarded: false) == none, "\(after)")
        }
        let (untimed, empty) = (Self.found(modified: nil), Self.found(size: 0))
        #expect(untimed.isMoved(as: Self.found("2", modified: nil), keepsVersion: false, isGuarded: false) == nil)
        #expect(empty.isMoved(as: Self.found("2", size: 0), keepsVersion: true, isGuarded: false) == true)
    }
}
