import QuireCore
import QuireFilesystem
import QuireIndex
import QuireStore
import QuireSync

/// Has the running drive follow changed configurations, one after the other.
actor LiveSetup {
    /// What the drive runs with. Its containers stay with their providers until the next mount.
    private(set) var running: Configuration
    private let factory: ProviderFactory
    private let index: DriveIndex
    private let mount: DriveMount
    private let sync: SyncService
    private let gate = AsyncGate()

    init(running: Configuration, factory: ProviderFactory, index: DriveIndex, mount: DriveMount, sync: SyncService) {
        self.running = running
        self.factory = factory
        self.index = index
        self.mount = mount
        self.sync = sync
    }

    /// Follows `configuration` once `commit` has written it. Whatever may fail is done before that: where this throws, the drive
    /// runs on as it did.
    ///
    /// - Returns: what there is to say.
    func apply(
        _ configuration: Configuration, _ commit: @escaping @Sendable () async throws -> Void
    ) async throws -> [String] {
        try await gate.run { @Sendable in try await self.follow(configuration, commit) }
    }

    private func follow(
        _ configuration: Configuration, _ commit: @escaping @Sendable () async throws -> Void
    ) async throws -> [String] {
        let following = configuration.keepingBindings(of: running)
        let isPlacedAnew = following.separateContainers != running.separateContainers
        let containers = isPlacedAnew ? try factory.containers(following) : nil
        if let containers {
            // Refused where a call hangs: nothing was made then.
            try await sync.replaceContainers(containers) { @Sendable in
                try await self.makeDirectories(following)
                try await self.place(following, containers, commit)
            }
        } else {
            try await makeDirectories(following)
            try await commit()
            mount.setContainerRoots(Self.roots(following))
        }
        running = following
        factory.traffic.up.setRate(configuration.uploadLimit)
        factory.traffic.down.setRate(configuration.downloadLimit)
        guard let name = configuration.defaultProvider?.name, name != running.defaultProvider?.name else { return [] }
        return ["\(name) keeps the drive from the next mount on: `quire unmount`, then `quire mount`"]
    }

    /// Has whatever store a provider of the running drive is found to have be used from now on, see `ProviderBinding.reset`.
    func reset(_ name: String) async throws {
        try await gate.run { @Sendable in try await self.beginAnew(at: name) }
    }

    private func beginAnew(at name: String) async throws {
        var following = running
        following.expectAny(at: name)
        guard let provider = following.provider(named: name) else { throw QuireError.noProvider(named: name) }
        let binding = ProviderBinding(index: index, stores: factory.stores)
        try await sync.replaceContainers(try factory.containers(following)) { @Sendable [following] in
            try await binding.reset(provider, following)
        }
        running = following
    }

    /// Has a provider's secret used by the running drive once `commit` has kept it. Where this throws, the drive runs on with the
    /// former one.
    func useSecret(
        _ change: SecretRenewal.Change, _ commit: @escaping @Sendable () async throws -> Void
    ) async throws {
        try await gate.run { @Sendable in try await self.renew(change, commit) }
    }

    private func renew(
        _ change: SecretRenewal.Change, _ commit: @escaping @Sendable () async throws -> Void
    ) async throws {
        var following = running
        following.setSecretPlace(change.place, of: change.provider)
        if let url = change.url { following.setURL(url, of: change.provider) }
        let containers = try factory.containers(following, renewed: change)
        let (binding, before) = (ProviderBinding(index: index, stores: factory.stores), running)
        let keep = { @Sendable () async throws in
            try await commit()
            if let url = change.url, let former = before.provider(named: change.provider) {
                try await binding.follow(former, to: url, before)
            }
        }
        // One that keeps nothing yet has no engine that would have to begin anew.
        if containers.contains(where: { $0.providerName == change.provider }) {
            try await sync.replaceContainers(containers, after: keep)
        } else {
            try await keep()
        }
        running = following
    }

    /// Gives directories to the containers that are new. Nothing is sent or brought here meanwhile.
    private func place(
        _ following: Configuration, _ containers: [SyncedContainer], _ commit: @Sendable () async throws -> Void
    ) async throws {
        // Nothing is moved in from here on.
        mount.setContainerRoots(Self.roots(following))
        do {
            let known = Set(running.separateContainers.map(\.id))
            for container in following.separateContainers where !known.contains(container.id) {
                let directory = ContainerDirectory(name: container.name, tree: index.tree)
                try await Blocking.run { try directory.requireContent() }
            }
            // Of the others it is noted, also where another store is expected than was found yet.
            let new = containers.filter { $0.id != .default && !known.contains($0.id) }
            try await ProviderBinding(index: index, stores: factory.stores).renew(following, new)
            try await commit()
        } catch {
            mount.setContainerRoots(Self.roots(running))
            throw error
        }
        index.index.setContainers(ContainerLayout(following))
        await index.settle()
    }

    private static func roots(_ configuration: Configuration) -> Set<FileName> {
        Set(configuration.containers.map(\.name))
    }

    private func makeDirectories(_ following: Configuration) async throws {
        for container in following.containers { try await makeDirectory(of: container) }
    }

    private func makeDirectory(of container: Configuration.Container) async throws {
        let directory = ContainerDirectory(name: container.name, tree: index.tree)
        let isNew = !running.containers.contains { $0.id == container.id }
        let mount = mount
        try await Blocking.run { () throws in
            if isNew { try directory.requireDirectory() }
            guard try directory.kind() == nil else { return }
            let change = LocalChange(
                path: directory.path, .makeDirectory(mode: 0o755, mtime: WallClock.now()), expecting: .absent, base: nil
            )
            _ = try mount.commit(change)
        }
    }
}

extension ContainerLayout {
    init(_ configuration: Configuration) {
        self.init(configuration.separateContainers.map { Root($0.id, at: $0.name) })
    }
}
