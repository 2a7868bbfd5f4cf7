import Glibc
import QuireCore
import QuireIndex
import QuireProviders
import QuireStore
import QuireSync
import Synchronization

/// Changes the drive's configuration, one change at a time, and has the running drive follow.
struct SetupService: Sendable {
    /// Makes the drive follow a changed configuration, which its second argument writes; returns what there is to say.
    typealias Apply = @Sendable (Configuration, @escaping @Sendable () async throws -> Void) async throws -> [String]

    private let setup: DriveSetup
    private let index: DriveIndex
    /// Tells the provider that keeps the drive until the next mount; nil while it is stopped and nothing is with that only.
    private let keeper: @Sendable () async throws -> String?
    private let apply: Apply
    private let stores: StoreReset
    private let renewal: SecretRenewal
    /// Taken for the whole of a change: until the drive follows it, and with the reading that it is made from.
    private let gate = AsyncGate()

    /// - Parameter filesystem: as `DriveSetup.filesystem`; nil: as the system tells it.
    init(
        location: HomeLocation, filesystem: (@Sendable (String) -> Int?)? = nil, index: DriveIndex,
        keeper: @escaping @Sendable () async throws -> String?,
        reset: StoreReset, renewal: SecretRenewal, apply: @escaping Apply
    ) {
        var setup = DriveSetup(location: location)
        if let filesystem { setup.filesystem = filesystem }
        self.setup = setup
        self.index = index
        self.keeper = keeper
        self.apply = apply
        self.stores = reset
        self.renewal = renewal
    }

    func addMethods(to methods: inout MethodTable) {
        methods.on(SetupMethods.ProviderAdd.self) { provider, _ in
            try await gate.run { @Sendable in try await add(provider) }
        }
        methods.on(SetupMethods.ProviderRemove.self) { parameters, _ in
            try await gate.run { @Sendable in try await removeProvider(named: parameters.name) }
        }
        methods.on(SetupMethods.ProviderReset.self) { parameters, _ in
            try await gate.run { @Sendable in
                .init(messages: try await reset(parameters.name, parameters.isConfirmed ?? false))
            }
        }
        methods.on(SetupMethods.ProviderSecret.self) { parameters, _ in
            try await gate.run { @Sendable in .init(messages: try await useSecret(parameters)) }
        }
        methods.on(SetupMethods.ProviderList.self) { _, _ in .init(providers: try providers()) }
        methods.on(SetupMethods.Limit.self) { limits, _ in
            try await gate.run { @Sendable in try await limit(limits) }
        }
        methods.on(SetupMethods.ContainerCreate.self) { container, _ in
            try await gate.run { @Sendable in try await create(container) }
        }
        methods.on(SetupMethods.ContainerList.self) { _, _ in .init(containers: try containers()) }
    }

    private func add(_ added: SetupMethods.ProviderAdd.Parameters) async throws -> SetupMethods.Outcome {
        if added.isDefault { try await refuseWhileDataless() }
        let provider = SetupMethods.Provider(name: added.name, url: added.url, isDefault: added.isDefault)
        let url = try setup.check(provider)
        let acceptsLossy = added.acceptsLossy ?? false
        let trial = ProviderTrial(url: url, secret: added.secret, acceptsLossy: acceptsLossy)
        let found = try await trial.run()
        let (configuration, messages) = try await setup.add(
            provider, secret: url.isRemote ? added.secret : nil, in: added.secretPlace, identity: found.identity,
            acceptsLossy: acceptsLossy)
        // What the former one of that name could do says nothing of this one, which was tried.
        for key in [SyncedContainer.conditionsKey(of: added.name), SyncedContainer.decisionKey(of: added.name)] {
            try await index.index.setValue(key, nil)
        }
        return .init(messages: found.words + messages + (try await apply(configuration) {}))
    }

    /// Tells what becomes of what the provider keeps, and does it where that is confirmed.
    private func reset(_ name: String, _ isConfirmed: Bool) async throws -> [String] {
        let provider = try await stores.provider(named: name)
        let isGiven = try setup.location.configuration.read()?.configuration.provider(named: name)?.identity != nil
        guard !isGiven else {
            throw QuireError(
                .usage, "\(setup.location.configuration.path) says which store \(name) has to have",
                remedy: "Take `identity` out of its [[provider]] there first")
        }
        await index.settle()
        var messages = try await stores.words(provider, index.index)
        if isConfirmed {
            try await stores.reset(provider)
        } else {
            messages.append("nothing was changed; `quire provider reset \(name) --confirm` does it")
        }
        return messages
    }

    private func useSecret(_ asked: SetupMethods.ProviderSecret.Parameters) async throws -> [String] {
        let (setup, change) = (setup, try await renewal.tried(asked))
        let notes = Lock<[String]>([])
        try await renewal.use(change) {
            let words = try await setup.keep(change)
            notes.withLock { $0 = words }
        }
        return notes.withLock { $0 }
    }

    /// Content that only the present provider has cannot be given to another.
    private func refuseWhileDataless() async throws {
        await index.settle()
        guard let dataless = try await index.index.datalessFile(in: .default) else { return }
        throw QuireError(
            .usage, "the content of \(dataless) is with the present provider only",
            remedy: "Bring everything here first: `quire download .`")
    }

    private func removeProvider(named name: String) async throws -> SetupMethods.Outcome {
        // Of the one that keeps the drive from then on, too, the configuration says why not.
        if try setup.location.configuration.read()?.configuration.defaultProvider?.name != name {
            try await refuseKeeper(named: name)
        }
        return .init(messages: try await apply(try await setup.removeProvider(named: name)) {})
    }

    private func refuseKeeper(named name: String) async throws {
        guard try await keeper() == name else { return }
        throw QuireError(
            .usage, "\(name) keeps the drive until the next mount",
            remedy: "Let the other one take over first: `quire unmount`, then `quire mount`")
    }

    private func limit(_ limits: SetupMethods.Limit.Parameters) async throws -> SetupMethods.Limit.Result {
        let (up, down) = (try limits.up.map(TransferRate.checked), try limits.down.map(TransferRate.checked))
        let configuration = try setup.location.configuration.update { configuration in
            if let up { configuration.uploadLimit = up }
            if let down { configuration.downloadLimit = down }
        }
        _ = try await apply(configuration) {}
        return .init(up: configuration.uploadLimit?.bytes, down: configuration.downloadLimit?.bytes)
    }

    private func create(_ container: SetupMethods.Container) async throws -> SetupMethods.Outcome {
        let (setup, configuration) = (setup, try setup.check(container))
        if let provider = container.provider { try await refuseKeeper(named: provider) }
        return .init(messages: try await apply(configuration) { try setup.add(container) })
    }

    private func providers() throws(QuireError) -> [SetupMethods.Provider] {
        try setup.location.configuration.read().map { setup.providers($0.configuration) } ?? []
    }

    private func containers() throws(QuireError) -> [SetupMethods.Container] {
        try setup.location.configuration.read().map { setup.containers($0.configuration) } ?? []
    }
}
