import Logging
import QuireCore
import QuireIndex
import QuireStore
import QuireSync

/// `check`, with a daemon and without.
struct CheckMethods: Sendable {
    let index: DriveIndex
    let secrets: ProviderSecrets
    let stores: KnownStores
    let configuration: @Sendable () async -> Configuration

    init(
        index: DriveIndex, secrets: ProviderSecrets, stores: KnownStores,
        configuration: @escaping @Sendable () async -> Configuration
    ) {
        self.secrets = secrets
        self.stores = stores
        self.index = index
        self.configuration = configuration
    }

    func addMethods(to methods: inout MethodTable) {
        let service = self
        methods.on(DriveMethods.Check.self) { parameters, context in
            var (items, differences) = try await service.store(repair: parameters.repair)
            if parameters.provider { differences += try await service.provider() }
            await context.sendParts(differences) { $0.path.path.bytes.count + $0.message.utf8.count + 100 }
            return .init(items: items, differences: differences.count, repaired: differences.count(where: \.repaired))
        }
    }

    private func store(repair: Bool) async throws -> (Int, [CheckDifference]) {
        _ = await index.index.rescanFinished()
        let check = DriveCheck(catalog: index, tree: index.tree)
        let (items, found) = try await check.store()
        guard repair, !found.isEmpty else { return (items, found) }
        index.index.beginRescan()
        _ = await index.index.rescanFinished()
        let remaining = Set(try await check.store().differences.map(\.path))
        return (
            items,
            found.map { difference in
                var difference = difference
                difference.repaired = !remaining.contains(difference.path)
                return difference
            }
        )
    }

    private func provider() async throws -> [CheckDifference] {
        var differences: [CheckDifference] = []
        let factory = ProviderFactory(secrets: secrets, stores: stores, traffic: Traffic(), logger: index.logger)
        let configuration = await configuration()
        try await ProviderBinding(index: index, stores: stores).takeOver(configuration)
        for container in try factory.containers(configuration) {
            let items = try await Self.listing(of: container)
            let bases = try await index.index.baseTree(container: container.id).map(\.base)
            differences += DriveCheck.provider(bases, items, root: container.root, excluded: container.excluded)
        }
        return differences
    }

    private static func listing(of container: SyncedContainer) async throws(QuireError) -> [RemoteItem] {
        do throws(ProviderError) {
            try await container.connect()
            guard case .everything(let items, _) = try await container.provider.changes(since: nil) else {
                throw ProviderError(.failed, "it does not list what it has")
            }
            return items
        } catch {
            throw QuireError(
                error.isRetryable ? .temporary : .failed,
                "the provider \(container.providerName): \(container.remedied(error))")
        }
    }
}
