import QuireCore
import QuireIndex
import QuireSync

/// Notices that a container is kept by another provider than before: what the former acknowledged says nothing of it.
///
/// Called before the engines run. All documents are then uploaded to the new provider, and what it has comes here.
struct ProviderBinding: Sendable {
    let index: DriveIndex

    /// - Returns: what there is to say.
    func renew(_ configuration: Configuration, _ containers: [SyncedContainer]) async throws -> [String] {
        var notes: [String] = []
        for container in containers {
            guard let provider = configuration.provider(named: container.providerName) else { continue }
            let key = "binding.\(container.id)"
            let binding = "\(provider.name) \(provider.url)"
            let former = try await index.index.value(key)
            guard former != binding else { continue }
            if former != nil {
                try await forget(container.id)
                notes.append(
                    "\(container.id == .default ? "the drive" : "\(container.id)") is kept by \(provider.name) from now on"
                )
            }
            try await index.index.setValue(key, binding)
        }
        return notes
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
