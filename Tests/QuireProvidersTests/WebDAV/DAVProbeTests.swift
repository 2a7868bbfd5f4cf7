import QuireCore
import Testing

@testable import QuireProviders

/// What `Documentation/Providers.md` says of servers is what the probe finds.
@Suite("What servers can do")
struct DAVProbeTests {
    private static func expected(_ form: ProviderForm) -> DAVAbilities? {
        var abilities = DAVAbilities()
        abilities.locks = true
        abilities.putsWhole = form != .rclone
        abilities.movesVersions = true
        abilities.moveCondition = form == .nginx || form == .rclone ? .none : .stateList
        abilities.tellsWritten = form != .apache && form != .nginx
        switch form {
        case .apache:
            (abilities.refusesExisting, abilities.condition) = (true, .stateList)
            (abilities.listsAll, abilities.stamps, abilities.longestName) = (true, true, 250)
        case .lighttpd:
            (abilities.refusesExisting, abilities.condition) = (true, .stateList)
            (abilities.listsAll, abilities.longestName) = (true, 240)
        case .nginx: (abilities.isTimeBased, abilities.hidesDotNames) = (true, true)
        case .sabre:
            (abilities.refusesExisting, abilities.condition, abilities.stamps) = (true, .stateList, true)
        case .rclone: abilities.listsAll = true
        default: return nil
        }
        return abilities
    }

    @Test(
        "The probe finds what a server can do, and leaves nothing behind",
        arguments: ProviderForm.allCases.filter { expected($0) != nil })
    func found(form: ProviderForm) async throws {
        let bench = try await form.open()
        let provider = try #require(bench.provider as? WebDAVProvider)
        var client = provider.client
        if form != .nginx { client.clock = .calm }
        #expect(try await DAVProbe.run(client) == Self.expected(form))
        #expect((try await provider.freeSpace() != nil) == (form == .sabre))
        #expect(bench.leftovers.isEmpty)
        #expect(try await bench.listing().isEmpty)
    }

    @Test("A server that a proxy before it lets move nothing has an account all the same, without conditions of a MOVE")
    func movesNothing() async throws {
        let server = try DAVStandIn(DAVStandIn.Manners(heedsTags: ["MOVE"]))
        let provider = server.provider()
        let id = try await provider.connect(expected: nil)
        #expect(provider.abilities.moveCondition == .stateList && provider.abilities.movesVersions)
        server.with { $0.trouble = DAVStandIn.Trouble(status: "502 Bad Gateway", method: "MOVE") }
        let again = server.provider()
        #expect(try await again.connect(expected: id) == id)
        #expect(again.abilities.moveCondition == .none && !again.abilities.movesVersions)
    }

    @Test("Attributes are not kept where they change the version of the document", arguments: [false, true])
    func retagged(stampsRetag: Bool) async throws {
        let server = try DAVStandIn(DAVStandIn.Manners(stampsRetag: stampsRetag))
        let provider = server.provider()
        _ = try await provider.connect(expected: nil)
        #expect(provider.abilities.stamps == !stampsRetag)
        #expect(provider.capabilities.attributes == !stampsRetag)
    }

    @Test(
        "A server whose versions are made of size and second is known for that, however long a write takes",
        arguments: [0, 0.3, 0.9, 1, 2.5])
    func timeBased(secondsPerWrite: Double) async throws {
        let server = try DAVStandIn(DAVStandIn.Manners(secondsPerWrite: secondsPerWrite))
        let provider = server.provider()
        _ = try await provider.connect(expected: nil)
        #expect(provider.abilities.isTimeBased)
    }

    @Test(
        "Where nothing tells that a document has changed, an update may be lost, with locks, too",
        arguments: [(false, .locked), (true, .detected)] as [(Bool, ProviderCapabilities.ConditionalWrites)])
    func untold(tellsNoVersions: Bool, writes: ProviderCapabilities.ConditionalWrites) async throws {
        var manners = DAVStandIn.Manners(locks: true, tellsNoVersions: tellsNoVersions)
        let server = try DAVStandIn(manners)
        let provider = server.provider()
        _ = try await provider.connect(expected: nil)
        #expect(provider.abilities.locks && provider.abilities.isTimeBased == tellsNoVersions)
        #expect(provider.capabilities.conditionalWrites == writes)
        // A time that goes on is enough.
        (manners.tellsNoVersions, manners.secondsPerWrite) = (false, 0)
        let ticking = try DAVStandIn(manners)
        let other = ticking.provider()
        _ = try await other.connect(expected: nil)
        #expect(other.abilities.isTimeBased && other.capabilities.conditionalWrites == .locked)
        #expect(ticking.with { $0.seconds } > 1)
    }

    @Test(
        "Other versions are known for that where a write takes little time, and else taken for such",
        arguments: [(0, false), (0.3, false), (0.7, false), (1, true), (3, true)])
    func ownVersions(secondsPerWrite: Double, isTimeBased: Bool) async throws {
        let server = try DAVStandIn(DAVStandIn.Manners(secondsPerWrite: secondsPerWrite, hasOwnTags: true))
        let provider = server.provider()
        _ = try await provider.connect(expected: nil)
        #expect(provider.abilities.isTimeBased == isTimeBased)
    }
}
