import QuireCore
import QuireFilesystem
import QuireIndex
import QuireStore
import QuireSync

/// Has the running drive follow changed configurations.
actor LiveSetup {
    /// What the drive runs with. Its containers stay with their providers until the next mount.
    private(set) var running: Configuration
    private let factory: ProviderFactory
    private let index: DriveIndex
    private let mount: DriveMount
    private let sync: SyncService

    init(running: Configuration, factory: ProviderFactory, index: DriveIndex, mount: DriveMount, sync: SyncService) {
        self.running = running
        self.factory = factory
        self.index = index
        self.mount = mount
        self.sync = sync
    }

    /// - Returns: what there is to say.
    func apply(_ configuration: Configuration) async throws -> [String] {
        factory.traffic.up.setRate(configuration.uploadLimit)
        factory.traffic.down.setRate(configuration.downloadLimit)
        let following = configuration.keepingBindings(of: running)
        for container in following.containers { try await makeDirectory(of: container) }
        mount.setContainerRoots(Set(following.containers.map(\.name)))
        if following.separateContainers != running.separateContainers {
            index.index.setContainers(ContainerLayout(following))
            await index.settle()
            let containers = try factory.containers(following)
            _ = try await ProviderBinding(index: index).renew(following, containers)
            sync.replaceContainers(containers)
        }
        running = following
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
