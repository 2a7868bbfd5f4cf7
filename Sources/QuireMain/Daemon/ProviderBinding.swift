import QuireCore
import QuireIndex
import QuireSync

/// Notices that a container is kept at another URL than before: what the former provider acknowledged says nothing of that.
///
/// Called before the engines run. All documents are then uploaded to the new provider, and what it has comes here. A container
/// of which the former alone has content stays there until all of it is here.
struct ProviderBinding: Sendable {
    let index: DriveIndex
    let stores: KnownStores

    /// Has each container bound to the provider that is to keep it now.
    ///
    /// Where none is at the former URL any more, that may have been changed because the store has moved: only that store is
    /// accepted then.
    /// - Returns: the configuration as it is to be served, and what there is to say.
    func settle(_ configuration: Configuration) async throws -> (configuration: Configuration, notes: [String]) {
        try await takeOver(configuration)
        var result = configuration
        var notes: [String] = []
        for container in Self.bound(configuration) {
            guard let next = configuration.keeper(of: container) else { continue }
            guard let former = try await binding(of: container), former.url != next.url else {
                try await bind(container, to: next)
                continue
            }
            let missing = try await index.index.datalessFile(in: container)
            if let missing, try !isSame(former, next) {
                let keeper = configuration.providers.first { $0.url == former.url }
                let others = Self.bound(result).filter { $0 != container }.map(result.providerName(of:))
                if let keeper, !others.contains(keeper.name) {
                    result.bind(container, to: keeper.name)
                    notes.append(
                        "\(Self.name(container)) stays with \(keeper.name), which alone has the content of \(missing): "
                            + "\(next.name) keeps it from the next mount on once everything is here (`quire download .`)"
                    )
                    continue
                }
                // What it has now may be a copy of what the former had: that says nothing of it either.
                try await forget(container)
                try result.expect(stores.identity(at: former.url), at: next.name)
                notes.append(
                    "the content of \(missing) is with the store that was at \(former.url) only: until everything is here "
                        + "(`quire download .`), \(next.name) has to be that store")
                continue
            }
            try await forget(container)
            try await bind(container, to: next)
            notes.append("\(Self.name(container)) is kept by \(next.name) from now on")
        }
        return (result, notes)
    }

    /// Has an index that was built anew know who keeps which container.
    ///
    /// - Parameter configuration: names the containers' providers.
    func renew(_ configuration: Configuration, _ containers: [SyncedContainer]) async throws {
        for container in containers {
            guard let provider = configuration.provider(named: container.providerName) else { continue }
            try await bind(container.id, to: provider)
        }
    }

    private static func name(_ container: ContainerID) -> String {
        container == .default ? "the drive" : "\(container)"
    }
    private static func key(_ container: ContainerID) -> String { "binding.\(container)" }

    private func binding(of container: ContainerID) async throws -> Binding? {
        try await index.index.value(Self.key(container)).flatMap(Binding.init(text:))
    }

    /// The containers that sync by themselves.
    private static func bound(_ configuration: Configuration) -> [ContainerID] {
        [.default] + configuration.separateContainers.map(\.id)
    }

    /// Has it known apart from the index which stores there are: earlier versions had it in there, by the provider's name.
    ///
    /// To be called before any of them is connected.
    func takeOver(_ configuration: Configuration) async throws {
        for container in Self.bound(configuration) {
            // What began to sync while a daemon ran has no binding before the next start.
            let next = configuration.keeper(of: container).map { Binding(name: $0.name, url: $0.url) }
            guard let binding = try await binding(of: container) ?? next else { continue }
            let key = "provider.identity.\(binding.name)"
            guard let identity = try await index.index.value(key) else { continue }
            if try stores.identity(at: binding.url) == nil { try stores.note(identity, at: binding.url) }
            try await index.index.setValue(key, nil)
        }
    }

    private func bind(_ container: ContainerID, to provider: Configuration.Provider) async throws {
        let binding = Binding(name: provider.name, url: provider.url)
        guard try await self.binding(of: container) != binding else { return }
        try await index.index.setValue(Self.key(container), binding.text)
    }

    /// Whether the store that was found at the next provider's URL is the former one.
    private func isSame(_ former: Binding, _ next: Configuration.Provider) throws(QuireError) -> Bool {
        guard let known = try stores.identity(at: former.url) else { return false }
        return try stores.identity(at: next.url) == known
    }

    private func forget(_ container: ContainerID) async throws {
        let bases = try await index.index.baseTree(container: container).map(\.base.path)
        for path in bases where path.components.count == 1 {
            index.record(.baseRemoved(container: container, path: path))
        }
        try await index.index.settle()
        try await index.index.setValue("cursor.\(container)", nil)
    }
}

/// Who keeps a container, as the index has it noted: `NAME URL`.
private struct Binding: Equatable {
    var name: String
    var url: String

    init(name: String, url: String) {
        self.name = name
        self.url = url
    }

    init?(text: String) {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        self.init(name: String(parts[0]), url: String(parts[1]))
    }

    var text: String { "\(name) \(url)" }
}

extension Configuration {
    fileprivate func keeper(of container: ContainerID) -> Provider? { provider(named: providerName(of: container)) }

    /// Has a provider keep a container.
    fileprivate mutating func bind(_ container: ContainerID, to name: String) {
        if container == .default {
            for index in providers.indices { providers[index].isDefault = providers[index].name == name }
        } else {
            for index in containers.indices where containers[index].id == container {
                containers[index].provider = name
            }
        }
    }

    /// Has a provider's store be the one with that identity, where nothing else was said.
    fileprivate mutating func expect(_ identity: String?, at name: String) {
        for index in providers.indices where providers[index].name == name && providers[index].identity == nil {
            providers[index].identity = identity
        }
    }
}
