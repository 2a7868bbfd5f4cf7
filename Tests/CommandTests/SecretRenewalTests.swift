import Logging
import QuireCore
import QuireIndex
import QuireProviders
import QuireStore
import Synchronization
import Testing

@testable import QuireMain

@Suite("Another secret of a provider", .timeLimit(.minutes(1)))
struct SecretRenewalTests {
    /// What the drive was told to use.
    private final class Used: Sendable {
        let secrets = Lock<[String]>([])
        /// Where they were tried.
        let urls = Lock<[String]>([])
    }

    /// A home with two providers, of which the server's takes one secret.
    private struct Place {
        let directory: TemporaryDirectory
        let location: HomeLocation
        let index: MetadataIndex
        let tree: DriveTree
        let used = Used()
        let url = "webdav+https://ada@cloud.example/files"

        init() async throws {
            directory = try TemporaryDirectory()
            location = try HomeLocation(
                option: directory.path + "/home", environment: { _ in nil }, workingDirectory: "/")
            let home = DriveHome(path: location.home)
            try home.createLayout()
            let setup = DriveSetup(location: location)
            _ = try setup.openOrCreate()
            _ = try await setup.add(
                .init(name: "cloud", url: url, isDefault: false), secret: "old-word", in: .file)
            index = try MetadataIndex.open(at: home.indexPath, driveRoot: home.storePath).0
            tree = try home.openStore()
        }

        /// What the home keeps.
        func secret() throws -> String? {
            try SecretFiles(home: location.home).secret(of: "cloud")
        }

        func configuration() throws -> Configuration {
            try #require(try location.configuration.read()).configuration
        }

        /// - Parameters:
        ///   - store: which one the server has for its secret.
        ///   - failure: of the drive that is to use it.
        func give(
            _ secret: String, to name: String = "cloud", store: String = "A", accessKey: String? = nil,
            failure: QuireError? = nil
        ) async throws -> [String] {
            let configuration = try configuration()
            let used = used
            let renewal = SecretRenewal(
                configuration: { configuration }, known: { _ in "A" },
                trial: { (url, secret, known) async throws(QuireError) in
                    used.urls.withLock { $0.append("\(url)") }
                    guard secret == "new-word" else { throw QuireError(.unavailable, "\(url) does not accept it") }
                    guard known == store else { throw QuireError(.unavailable, "\(url) has another store") }
                },
                use: { change, keep in
                    try await keep()
                    used.secrets.withLock { $0.append("\(change.provider) \(change.secret)") }
                })
            let broken = SecretRenewal(
                configuration: renewal.configuration, known: renewal.known, trial: renewal.trial,
                use: { _, _ in throw failure ?? QuireError(.failed, "") })
            let service = SetupService(
                location: location, index: DriveIndex(index: index, tree: tree, logger: Logger(label: "test")),
                keeper: { nil },
                reset: StoreReset(containers: { _ in [] }, configuration: { configuration }, reset: { _ in }),
                renewal: failure == nil ? renewal : broken
            ) { _, commit in
                try await commit()
                return []
            }
            var methods = MethodTable()
            service.addMethods(to: &methods)
            return try await LocalCaller(methods: methods).call(
                SetupMethods.ProviderSecret.self, .init(name: name, secret: secret, accessKey: accessKey),
                onPartial: nil
            ).messages
        }
    }

    @Test("is kept where the former one was, and used")
    func kept() async throws {
        let place = try await Place()
        defer { place.index.close() }
        let before = try place.configuration()
        #expect(try await place.give("new-word").isEmpty)
        #expect(try place.secret() == "new-word")
        #expect(place.used.secrets.withLock { $0 } == ["cloud new-word"])
        #expect(try place.configuration() == before)
    }

    @Test(
        "changes nothing where it is refused, leads to another store, cannot be one, or is not taken by the drive",
        arguments: [
            ("wrong-word", "A", nil), ("new-word", "B", nil), ("two\nlines", "A", nil), ("", "A", nil),
            ("new-word", "A", QuireError(.temporary, "a call does not come back")),
        ] as [(String, String, QuireError?)])
    func refused(secret: String, store: String, failure: QuireError?) async throws {
        let place = try await Place()
        defer { place.index.close() }
        let error = await #expect(throws: QuireError.self) {
            try await place.give(secret, store: store, failure: failure)
        }
        #expect(error.map { secret.isEmpty || !"\($0)".contains(secret) } == true)
        #expect(try place.secret() == "old-word")
        #expect(place.used.secrets.withLock { $0 }.isEmpty)
    }

    @Test("is not for a folder, nor for keys that others keep, nor for a provider that is not there")
    func unwanted() async throws {
        let place = try await Place()
        defer { place.index.close() }
        let setup = DriveSetup(location: place.location)
        _ = try await setup.add(.init(name: "store", url: "s3+https://s3.example/bucket", isDefault: false))
        func words(_ name: String) async -> String {
            let error = await #expect(throws: QuireError.self) { try await place.give("new-word", to: name) }
            return error.map { "\($0.code.exitCode) \($0)" } ?? ""
        }
        #expect(await words("embedded").hasPrefix("64 embedded is a folder, which takes no secret"))
        #expect(await words("store").contains("~/.aws/credentials"))
        #expect(await words("clowd").contains("clowd"))
    }

    @Test("may belong to another access key, which the provider's URL names from then on")
    func accessKey() async throws {
        let place = try await Place()
        defer { place.index.close() }
        let setup = DriveSetup(location: place.location)
        let (former, next) = ("s3+https://OLD@s3.example/bucket/docs", "s3+https://NEW@s3.example/bucket/docs")
        _ = try await setup.add(.init(name: "store", url: former, isDefault: false), secret: "old-word", in: .file)
        _ = await #expect(throws: QuireError.self) { try await place.give("wrong-word", to: "store", accessKey: "NEW") }
        #expect(try place.configuration().provider(named: "store")?.url == former)
        #expect(try await place.give("new-word", to: "store", accessKey: "NEW").isEmpty)
        #expect(place.used.urls.withLock { $0 } == [next, next])
        #expect(try place.configuration().provider(named: "store")?.url == next)
        #expect(try SecretFiles(home: place.location.home).secret(of: "store") == "new-word")
        for (name, key) in [("cloud", "NEW"), ("store", "two words"), ("store", "")] {
            let error = await #expect(throws: QuireError.self) {
                try await place.give("new-word", to: name, accessKey: key)
            }
            #expect(error?.code == .usage)
        }
    }

    @Test("What is known of a store stays known where another access key leads to it")
    func followed() async throws {
        let place = try await Place()
        defer { place.index.close() }
        let stores = KnownStores(home: place.location.home)
        let index = DriveIndex(index: place.index, tree: place.tree, logger: Logger(label: "test"))
        let binding = ProviderBinding(index: index, stores: stores)
        var configuration = try place.configuration()
        configuration.setURL("s3+https://OLD@s3.example/bucket", of: "embedded")
        let former = try #require(configuration.defaultProvider)
        _ = try await binding.settle(configuration)
        try await binding.connected(.default, to: former, "A", configuration)
        let base = BaseRecord(
            container: .default, path: "doc", kind: .file, version: ProviderVersion("1"), size: 1, mtime: .unknown,
            mode: nil, identifier: nil, checksum: nil, symlinkTarget: nil)
        let fingerprint = Fingerprint(inode: 7, size: 1, mtime: .unknown, ctime: .unknown, kind: .file)
        index.record(.acknowledged(.init(item: ItemID(77), base: base, fingerprint: fingerprint, writersOpen: false)))
        try await place.index.settle()
        let next = "s3+https://NEW@s3.example/bucket"
        try await binding.follow(former, to: next, configuration)
        configuration.setURL(next, of: "embedded")
        #expect(try await binding.settle(configuration).notes.isEmpty)
        #expect(try await place.index.baseTree(container: .default).map(\.base.path) == ["doc"])
        let present = try #require(configuration.defaultProvider)
        #expect(try await binding.known(of: present, configuration) == "A")
    }

    @Test("leads to the store that is known, or is refused with the account to take")
    func otherStore() async throws {
        let directory = try TemporaryDirectory()
        let trial = ProviderTrial(url: .init(folder: try directory.make("folder")), secret: nil)
        try await trial.requireStore(nil)
        let error = await #expect(throws: QuireError.self) { try await trial.requireStore("another") }
        #expect(error?.code == .unavailable)
        #expect(error?.remedy == "Give the secret of the account that keeps the drive; nothing was changed")
    }
}
