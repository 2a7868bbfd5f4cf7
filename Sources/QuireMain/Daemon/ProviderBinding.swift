import QuireCore
import QuireIndex
import QuireProviders
import QuireSync

/// Notices that a container is kept at another URL than before, or by another store there: what the former one acknowledged says
/// nothing of that.
///
/// Called before the engines run. All documents are then uploaded to the new provider, and what it has comes here. A container
/// of which the former alone has content stays there until all of it is here.
struct ProviderBinding: Sendable {
    let index: DriveIndex
    let stores: KnownStores

    /// Has each container bound to the provider that is to keep it now.
    ///
    /// Where none is at the former URL any more, that may have been changed because the store has moved: only that store is
    /// accepted then. Nor is what is known believed of a store at the same URL that was forgotten.
    /// - Returns: the configuration as it is to be served, and what there is to say.
    func settle(_ configuration: Configuration) async throws -> (configuration: Configuration, notes: [String]) {
        try await takeOver(configuration)
        var result = configuration
        var notes: [String] = []
        for container in Self.bound(configuration) {
            guard let next = configuration.keeper(of: container) else { continue }
            try await finishRotation(of: container, next)
            let isThere = try await binding(of: container).map { $0.url == next.url } ?? true
            let former: Binding
            let wanted: String?
            do {
                former = try await self.former(of: container, next)
                wanted = isThere || former.identity != nil ? try expected(of: next) : nil
            } catch let error as QuireError where isThere {
                // Nothing is connected there then.
                notes.append(error.message)
                continue
            }
            let isSame = former.identity != nil && former.identity == wanted
            if isThere, isSame {
                try await bind(container, to: next, identity: former.identity)
                continue
            }
            let missing = try await index.index.datalessFile(in: container)
            if isThere, missing == nil, try await bases(of: container).isEmpty {
                // Nothing is known of the former store: the one that is wanted now may be another, or any.
                try await bind(container, to: next, identity: wanted)
                continue
            }
            // What the configuration says of the store at the same URL is the user's word; so is that any may be there.
            if let missing, !isSame, !isThere || next.identity == nil && former.identity != nil {
                let keeper = isThere ? nil : configuration.providers.first { $0.url == former.url }
                let others = Self.bound(result).filter { $0 != container }.map(result.providerName(of:))
                if let keeper, !others.contains(keeper.name) {
                    result.bind(container, to: keeper.name)
                    result.expect(former.identity, at: keeper.name)
                    if former.identity == nil || former.identity != result.keeper(of: container)?.identity {
                        try await forget(container)
                    }
                    notes.append(
                        "\(Self.name(container)) stays with \(keeper.name), which alone has the content of \(missing): "
                            + "\(next.name) keeps it from the next mount on once everything is here (`quire download .`)"
                    )
                    continue
                }
                // What it has now may be a copy of what the former had: that says nothing of it either.
                try await forget(container)
                result.expect(former.identity, at: next.name)
                notes.append(
                    "the content of \(missing) is with the store that was at \(former.url) only: until everything is here "
                        + "(`quire download .`), \(next.name) has to be that store")
                continue
            }
            try await forget(container)
            try await bind(container, to: next, identity: isSame ? former.identity : nil)
            notes.append(
                isThere
                    ? "\(Self.name(container)) is compared anew with what \(next.name) has: it may be another store there"
                    : "\(Self.name(container)) is kept by \(next.name) from now on")
        }
        return (result, notes)
    }

    /// Has it noted who keeps containers of which nothing was noted yet: new ones, or all in an index that was built anew. What
    /// their store has to be is noted with it.
    ///
    /// - Parameter configuration: names the containers' providers.
    func renew(_ configuration: Configuration, _ containers: [SyncedContainer]) async throws {
        for container in containers {
            guard let provider = configuration.provider(named: container.providerName) else { continue }
            try await bind(container.id, to: provider, identity: expected(of: provider))
        }
    }

    /// As `renew`, of as many as can be: what cannot be noted now is when the container's provider is connected.
    ///
    /// - Returns: what there is to say of the others.
    func renewAll(_ configuration: Configuration, _ containers: [SyncedContainer]) async -> [String] {
        var notes: [String] = []
        for container in containers {
            do {
                try await renew(configuration, [container])
            } catch let error as QuireError {
                notes.append(error.message)
            } catch {
                notes.append("who keeps \(Self.name(container.id)) cannot be noted yet: \(error)")
            }
        }
        return notes
    }

    /// The containers that a provider keeps, or is to keep while nobody else of the configuration does.
    func containers(of provider: Configuration.Provider, _ configuration: Configuration) async throws -> [ContainerID] {
        var found: [ContainerID] = []
        for container in Self.bound(configuration) {
            let former = try await binding(of: container)?.url
            let isElsewhere = former.map { url in configuration.providers.contains { $0.url == url } } ?? false
            let isKeeper = !isElsewhere && configuration.keeper(of: container)?.name == provider.name
            if former == provider.url || isKeeper { found.append(container) }
        }
        return found
    }

    /// What a provider's store has to call itself, as far as is known: by the configuration, by its URL, or by what it keeps.
    func known(of provider: Configuration.Provider, _ configuration: Configuration) async throws -> String? {
        if let expected = try expected(of: provider) { return expected }
        for container in try await containers(of: provider, configuration) {
            let binding = try await binding(of: container)
            if let identity = binding?.identity, binding?.url == provider.url { return identity }
        }
        return nil
    }

    /// Has what a provider keeps be known at the URL that it has from then on, where the same store is: what is known of that stays.
    /// While no engine runs.
    ///
    /// Should this end halfway, the next start ends it (`finishRotation`).
    func follow(_ provider: Configuration.Provider, to url: String, _ configuration: Configuration) async throws {
        guard url != provider.url else { return }
        if let identity = try await known(of: provider, configuration) { try stores.note(identity, at: url) }
        var next = provider
        next.url = url
        for container in try await containers(of: provider, configuration) {
            guard let binding = try await binding(of: container), binding.url == provider.url else { continue }
            try await bind(container, to: next, identity: binding.identity)
        }
    }

    /// Has what is known of a container's store be known at a URL that differs in the access key only: the same place at the same
    /// service is the same store, which connecting makes sure of.
    private func finishRotation(of container: ContainerID, _ next: Configuration.Provider) async throws {
        guard let url = try await binding(of: container)?.url, url != next.url,
            let old = try? QuireProviders.ProviderURL(url), let new = try? QuireProviders.ProviderURL(next.url),
            let same = try? old.withAccessKey("KEY"), let place = try? new.withAccessKey("KEY"),
            "\(same)" == "\(place)"
        else { return }
        let former = try await former(of: container, next)
        if let identity = former.identity, try stores.identity(at: next.url) == nil {
            try stores.note(identity, at: next.url)
        }
        try await bind(container, to: next, identity: former.identity)
    }

    /// Has whatever store is found at a provider's URL next be the one that the containers are kept by. Nothing is known of
    /// it: what is here goes there, and what is there comes here.
    ///
    /// What the former one acknowledged goes first: where this ends halfway, that one is expected still. While no engine runs.
    func reset(_ provider: Configuration.Provider, _ configuration: Configuration) async throws {
        for container in try await containers(of: provider, configuration) {
            try await forget(container)
            try await bind(container, to: provider, identity: nil)
        }
        try stores.forget(provider.url)
    }

    /// Notes which store a container's provider was just found to have: what is known from here on is of that.
    ///
    /// - Parameter configuration: that is served.
    /// - Throws: `.unavailable` where it is another store than the one that is known at the URL, or keeps another container.
    func connected(
        _ container: ContainerID, to provider: Configuration.Provider, _ identity: String,
        _ configuration: Configuration
    ) async throws(QuireError) {
        do {
            let present = try await binding(of: container)
            if let present, present.url == provider.url, let known = present.identity, known != identity {
                throw QuireError(
                    .unavailable, "\(provider.url) has another store than before",
                    remedy: "Bring the former one back. \(SyncedContainer.resetRemedy(provider.name))")
            }
            try await refuseShared(identity, of: container, provider, configuration)
            // First: until it is bound, this tells which store that was.
            try stores.note(identity, at: provider.url)
            try await bind(container, to: provider, identity: identity)
        } catch let error as QuireError {
            throw error
        } catch {
            throw QuireError(.unavailable, "which store keeps \(Self.name(container)) cannot be noted: \(error)")
        }
    }

    /// Makes sure that a store keeps one container only, the first of those that the configuration names: what is moved from one
    /// to another is deleted at its old place once it is at its new one, and both would be the same.
    private func refuseShared(
        _ identity: String, of container: ContainerID, _ provider: Configuration.Provider,
        _ configuration: Configuration
    ) async throws {
        for other in Self.bound(configuration).prefix(while: { $0 != container }) {
            guard let keeper = configuration.keeper(of: other) else { continue }
            let known = try await binding(of: other)?.identity ?? expected(of: keeper)
            guard known == identity || ProviderURL.areNested(provider.url, keeper.url) else { continue }
            let what =
                known == identity
                ? "is the store that keeps \(Self.name(other)) already, at \(keeper.url)"
                : "and \(keeper.url), which keeps \(Self.name(other)), lie one within the other"
            throw QuireError(
                .unavailable, "\(provider.url) \(what): what is moved between both would be deleted",
                remedy: "Give \(Self.name(container)) a store of its own")
        }
    }

    /// The name of the provider that alone has content of the drive, which it keeps until the next mount; nil where all is here,
    /// or none of the configuration is that.
    func keeper(_ configuration: Configuration) async throws -> String? {
        guard try await index.index.datalessFile(in: .default) != nil,
            let binding = try await binding(of: .default)
        else { return nil }
        return configuration.providers.first { $0.url == binding.url }?.name
    }

    private static func name(_ container: ContainerID) -> String {
        container == .default ? "the drive" : "\(container)"
    }
    private static func key(_ container: ContainerID) -> String { "binding.\(container)" }
    private static func identityKey(_ container: ContainerID) -> String { "identity.\(container)" }

    private func binding(of container: ContainerID) async throws -> Binding? {
        guard var binding = try await index.index.value(Self.key(container)).flatMap(Binding.init(text:)) else {
            return nil
        }
        binding.identity = try await index.index.value(Self.identityKey(container))
        return binding
    }

    /// Who kept a container, and which store that was. Where nothing was noted it is taken to have been the next one.
    private func former(of container: ContainerID, _ next: Configuration.Provider) async throws -> Binding {
        var former = try await binding(of: container) ?? Binding(name: next.name, url: next.url)
        // Earlier versions noted no identity.
        if former.identity == nil { former.identity = try stores.identity(at: former.url) }
        return former
    }

    /// What a provider's store has to call itself; nil where any is accepted.
    private func expected(of provider: Configuration.Provider) throws(QuireError) -> String? {
        if let given = provider.identity { given } else { try stores.identity(at: provider.url) }
    }

    private func bases(of container: ContainerID) async throws -> [RelativePath] {
        try await index.index.baseTree(container: container).map(\.base.path)
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

    /// The identity goes first and comes last: at no time is it noted of another URL than its own.
    private func bind(
        _ container: ContainerID, to provider: Configuration.Provider, identity: String?
    ) async throws {
        let (key, identityKey) = (Self.key(container), Self.identityKey(container))
        let binding = Binding(name: provider.name, url: provider.url, identity: identity)
        let present = try await self.binding(of: container)
        guard present != binding else { return }
        if present?.identity != nil, present?.identity != identity || present?.url != provider.url {
            try await index.index.setValue(identityKey, nil)
        }
        try await index.index.setValue(key, binding.text)
        if let identity { try await index.index.setValue(identityKey, identity) }
    }

    private func forget(_ container: ContainerID) async throws {
        for path in try await bases(of: container) where path.components.count == 1 {
            index.record(.baseRemoved(container: container, path: path))
        }
        try await index.index.settle()
        try await index.index.setValue(SyncedContainer.cursorKey(of: container), nil)
    }
}

/// Who keeps a container, as the index has it noted: `NAME URL`, and apart from that the store's identity.
private struct Binding: Equatable {
    var name: String
    var url: String
    /// Of the store that what is known is of; nil where none was connected since that was forgotten.
    var identity: String?

    init(name: String, url: String, identity: String? = nil) {
        self.name = name
        self.url = url
        self.identity = identity
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

    /// Has any store be a provider's.
    mutating func expectAny(at name: String) {
        for index in providers.indices where providers[index].name == name { providers[index].identity = nil }
    }

    /// Has a provider's store be the one with that identity, where nothing else was said.
    fileprivate mutating func expect(_ identity: String?, at name: String) {
        for index in providers.indices where providers[index].name == name && providers[index].identity == nil {
            providers[index].identity = identity
        }
    }
}
