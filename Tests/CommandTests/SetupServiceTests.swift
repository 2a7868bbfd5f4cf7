import Logging
import QuireCore
import QuireIndex
import QuireStore
import Synchronization
import Testing

@testable import QuireMain

@Suite("Changes of the configuration", .timeLimit(.minutes(1)))
struct SetupServiceTests {
    /// How many changes are followed at a time, and what was followed last.
    private struct Following {
        var isUnderWay = false
        var met = false
        var last: Configuration?
    }

    @Test("come one after the other, from reading to following")
    func oneByOne() async throws {
        let directory = try TemporaryDirectory()
        let location = try HomeLocation(
            option: directory.path + "/home", environment: { _ in nil }, workingDirectory: "/")
        let home = DriveHome(path: location.home)
        try home.createLayout()
        _ = try DriveSetup(location: location).openOrCreate()
        let (index, _) = try MetadataIndex.open(at: home.indexPath, driveRoot: home.storePath)
        defer { index.close() }
        let following = Lock(Following())
        let reset = StoreReset(containers: { _ in [] }, configuration: { .new(home: "", deviceName: "", deviceID: "") })
        { _ in }
        let service = SetupService(
            location: location,
            index: DriveIndex(index: index, tree: try home.openStore(), logger: Logger(label: "test")),
            keeper: { nil }, reset: reset,
            renewal: SecretRenewal(configuration: reset.configuration, known: { _ in nil }, use: { _, _ in })
        ) { configuration, commit in
            following.withLock { following in
                following.met = following.met || following.isUnderWay
                following.isUnderWay = true
            }
            // So that whoever may begins meanwhile.
            for _ in 0..<100 { await Task.yield() }
            try await commit()
            following.withLock { following in
                following.isUnderWay = false
                following.last = configuration
            }
            return []
        }
        var methods = MethodTable()
        service.addMethods(to: &methods)
        let caller = LocalCaller(methods: methods)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for rate in 1...8 as ClosedRange<Int64> {
                for limits in [(rate, nil), (nil, rate)] as [(Int64?, Int64?)] {
                    group.addTask {
                        let parameters = SetupMethods.Limit.Parameters(
                            up: limits.0.map { $0 * 1_000_000 }, down: limits.1.map { $0 * 1_000_000 })
                        _ = try await caller.call(SetupMethods.Limit.self, parameters, onPartial: nil)
                    }
                }
            }
            try await group.waitForAll()
        }
        let (met, last) = following.withLock { ($0.met, $0.last) }
        #expect(!met)
        #expect(try last == location.configuration.read()?.configuration)
    }

    @Test(
        "say of a folder that is added where its lock may be of this machine only",
        arguments: [(0x6573_5546, true), (0xEF53, false), (nil, false)] as [(Int?, Bool)])
    func localLock(filesystem: Int?, isTold: Bool) async throws {
        let directory = try TemporaryDirectory()
        let folder = try directory.make("folder")
        let location = try HomeLocation(
            option: directory.path + "/home", environment: { _ in nil }, workingDirectory: "/")
        let home = DriveHome(path: location.home)
        try home.createLayout()
        let configuration = try DriveSetup(location: location).openOrCreate().configuration
        let (index, _) = try MetadataIndex.open(at: home.indexPath, driveRoot: home.storePath)
        defer { index.close() }
        let service = SetupService(
            location: location, filesystem: { $0 == folder ? filesystem : 0xEF53 },
            index: DriveIndex(index: index, tree: try home.openStore(), logger: Logger(label: "test")),
            keeper: { nil },
            reset: StoreReset(containers: { _ in [] }, configuration: { configuration }, reset: { _ in }),
            renewal: SecretRenewal(configuration: { configuration }, known: { _ in nil }, use: { _, _ in })
        ) { _, _ in [] }
        var methods = MethodTable()
        service.addMethods(to: &methods)
        let parameters = SetupMethods.ProviderAdd.Parameters(name: "far", url: "folder:\(folder)", isDefault: false)
        let messages = try await LocalCaller(methods: methods).call(
            SetupMethods.ProviderAdd.self, parameters, onPartial: nil
        ).messages
        #expect(messages.count == (isTold ? 1 : 0))
        #expect(messages.allSatisfy { $0.contains("its lock may be of this machine only") })
    }
}
