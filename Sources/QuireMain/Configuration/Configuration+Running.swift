extension Configuration {
    /// What a drive that runs with `running` follows of this configuration before the next mount.
    ///
    /// Containers may come. Those that there are stay, each with the provider that it has, where that was: what is known of one
    /// provider says nothing of another.
    func keepingBindings(of running: Configuration) -> Configuration {
        var kept = self
        guard let main = running.defaultProvider else { return kept }
        kept.keep(main)
        for position in kept.providers.indices {
            kept.providers[position].isDefault = kept.providers[position].name == main.name
        }
        kept.containers.removeAll { $0.provider == main.name }
        for container in running.separateContainers {
            kept.containers.removeAll {
                $0.id == container.id || $0.name == container.name || $0.provider == container.provider
            }
            kept.containers.append(container)
            if let provider = container.provider.flatMap(running.provider(named:)) { kept.keep(provider) }
        }
        return kept
    }

    private mutating func keep(_ provider: Provider) {
        guard let position = providers.firstIndex(where: { $0.name == provider.name }) else {
            return providers.append(provider)
        }
        providers[position] = provider
    }
}
