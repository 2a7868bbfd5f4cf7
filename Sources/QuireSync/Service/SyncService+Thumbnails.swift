package import QuireCore

/// Where the thumbnails of a container's documents go.
package struct ThumbnailRoom: Sendable {
    package var container: ContainerID
    /// The container's, below the drive's root.
    package var root: RelativePath
    /// Nil where the provider has no room for thumbnails.
    package var storage: (any ThumbnailStorage)?
}

extension SyncService {
    /// The room of the container that holds the item at a path below the drive's root.
    package func thumbnailRoom(for path: RelativePath) -> ThumbnailRoom? {
        engine(for: path).map(Self.room)
    }

    /// One for each container.
    package var thumbnailRooms: [ThumbnailRoom] { engines.map(Self.room) }

    private static func room(_ engine: SyncEngine) -> ThumbnailRoom {
        let container = engine.context.container
        return ThumbnailRoom(
            container: container.id, root: container.root,
            storage: (container.provider as? any ThumbnailStorage).map {
                PausableThumbnails(storage: $0, engine: engine)
            })
    }
}
