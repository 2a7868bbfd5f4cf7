import Logging
import QuireCore
import QuireProviders
import QuireSync

/// Makes providers and the containers they keep out of the configuration.
struct ProviderFactory: Sendable {
    let secrets: ProviderSecrets
    let stores: KnownStores
    /// Notes which store keeps which container; nil where nothing follows from finding it.
    var binding: ProviderBinding?
    /// What the content of all of them passes through.
    let traffic: Traffic
    let logger: Logger

    private func provider(
        _ entry: Configuration.Provider, _ pace: ListingPace, _ renewed: SecretRenewal.Change?
    ) throws(QuireError) -> any DocumentProvider {
        if let folder = ProviderURL.folder(entry.url) {
            return FolderProvider(root: folder, traffic: traffic, logger: logger)
        }
        let url = try QuireProviders.ProviderURL(entry.url)
        let secret: SecretSource =
            if let renewed, renewed.provider == entry.name { .known(renewed.secret) } else {
                try secrets.source(of: entry)
            }
        return url.makeProvider(
            secret: secret, pace: pace, traffic: traffic, logger: logger)
    }

    private func identity(
        _ entry: Configuration.Provider, of container: ContainerID, _ configuration: Configuration
    ) -> KnownStore {
        var store = KnownStore(stores: stores, url: entry.url, given: entry.identity)
        if let binding {
            store.connected = { (identity) async throws(QuireError) in
                try await binding.connected(container, to: entry, identity, configuration)
            }
        }
        return store
    }

    /// The containers that sync by themselves: the default one, and those with a provider of their own.
    ///
    /// - Parameter renewed: a secret in place of the one that is kept.
    func containers(
        _ configuration: Configuration, renewed: SecretRenewal.Change? = nil
    ) throws(QuireError) -> [SyncedContainer] {
        guard let main = configuration.defaultProvider else {
            throw QuireError(.usage, "the configuration names no provider", remedy: "Add one with `quire provider add`")
        }
        let separate = configuration.separateContainers
        let pace = ListingPace(interval: configuration.listSeconds == 0 ? nil : .seconds(configuration.listSeconds))
        var containers = [
            SyncedContainer(
                id: .default, root: .root, excluded: separate.map { RelativePath([$0.name]) }, providerName: main.name,
                provider: try provider(main, pace, renewed), identity: identity(main, of: .default, configuration),
                acceptsLossy: main.acceptsLossy)
        ]
        for container in separate {
            guard let entry = container.provider.flatMap(configuration.provider(named:)) else { continue }
            containers.append(
                SyncedContainer(
                    id: container.id, root: RelativePath([container.name]), providerName: entry.name,
                    provider: try provider(entry, pace, renewed),
                    identity: identity(entry, of: container.id, configuration), acceptsLossy: entry.acceptsLossy))
        }
        return containers
    }
}

extension Configuration {
    /// Containers with a provider of their own; the others are ordinary directories of the default container.
    var separateContainers: [Container] { containers.filter { $0.provider != nil } }

    /// The name of the provider that keeps a container.
    func providerName(of container: ContainerID) -> String {
        let own = containers.first { $0.id == container }?.provider
        return own ?? defaultProvider?.name ?? ""
    }

    /// Where a container lies on the drive.
    func root(of container: ContainerID) -> RelativePath {
        containers.first { $0.id == container }.map { RelativePath([$0.name]) } ?? .root
    }

    /// What people know a container by: its directory's name, and the default one by who keeps it.
    func displayName(of container: ContainerID) -> String {
        containers.first { $0.id == container }.map { "\($0.name)" } ?? providerName(of: container)
    }
}
