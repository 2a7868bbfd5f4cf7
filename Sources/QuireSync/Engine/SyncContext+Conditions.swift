import QuireCore

extension SyncContext {
    /// Nothing is written where one device may overwrite another unnoticed, unless the user accepted that.
    ///
    /// One that never did better and is in use was accepted when it was added, before the configuration said so.
    ///
    /// - Throws: `SyncFailure` (`.offline`) where it may, with what to do about it; what the index throws.
    func requireConditions() async throws {
        let name = container.providerName
        let key = SyncedContainer.conditionsKey(of: name)
        let found = provider.capabilities.conditionalWrites
        let known = try await index.value(key)
        let isInUse = try await index.value(container.cursorKey) != nil
        guard found != .untried else {
            // It is asked again before the first change.
            if known == nil, !isInUse { try await index.setValue(key, found.rawValue) }
            return
        }
        guard found == .detected else { return try await index.setValue(key, found.rawValue) }
        if container.acceptsLossy || known == nil && isInUse { return }
        let didBetter = known != nil && known != ProviderCapabilities.ConditionalWrites.untried.rawValue
        throw SyncFailure(
            .offline,
            "\(name) may lose an update: it has neither locks nor conditions\(didBetter ? " any more" : ""), so two devices "
                + "could overwrite each other; have the server set right, or accept it: write `accept_lossy = true` in its "
                + "[[provider]] of config.toml, and mount the drive again")
    }
}
