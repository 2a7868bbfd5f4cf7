import QuireCore
import QuireFilesystem
import QuireIndex
import QuireStore
import QuireSync

/// Has the running drive follow a changed configuration.
struct LiveSetup: Sendable {
    /// The configuration that the daemon started with: the default container stays with its provider until the next mount.
    let running: Configuration
    let factory: ProviderFactory
    let index: DriveIndex
    let mount: DriveMount
    let sync: SyncService

    /// - Returns: what there is to say.
    func apply(_ configuration: Configuration) async throws -> [String] {
        factory.traffic.up.setRate(configuration.uploadLimit)
        factory.traffic.down.setRate(configuration.downloadLimit)
        for container in configuration.containers { try await makeDirectory(of: container) }
        mount.setContainerRoots(Set(configuration.containers.map(\.name)))
        if configuration.separateContainers != running.separateContainers {
            index.index.setContainers(ContainerLayout(configuration))
            await index.settle()
            var effective = configuration
            for position in effective.providers.indices {
                effective.providers[position].isDefault =
                    effective.providers[position].name == running.defaultProvider?.name
            }
            sync.replaceContainers(try factory.containers(effective))
        }
        guard let name = configuration.defaultProvider?.name, name != running.defaultProvider?.name else { return [] }
        return ["\(name) keeps the drive from the next mount on: `quire unmount`, then `quire mount`"]
    }

    private func makeDirectory(of container: Configuration.Container) async throws {
        let path = RelativePath([container.name])
        let (tree, mount) = (index.tree, mount)
        try await Blocking.run { () throws in
            guard try tree.status(at: path) == nil else { return }
            let change = LocalChange(
                path: path, .makeDirectory(mode: 0o755, mtime: WallClock.now()), expecting: .absent, base: nil)
            _ = try mount.commit(change)
        }
    }
}

extension ContainerLayout {
    init(_ configuration: Configuration) {
        self.init(configuration.separateContainers.map { Root($0.id, at: $0.name) })
    }
}
