import Foundation
import Logging
import QuireConfinement
import QuireCore
import QuireIndex
import QuireStore
import QuireSync
import QuireThumbnails

extension ThumbnailTools {
    /// The tools of a drive; reads what programs are installed.
    ///
    /// - Parameter mountpoint: absolute, with no links in it.
    init(_ home: OpenHome, _ index: DriveIndex, sync: SyncService, mountpoint: String, logger: Logger) {
        let settings = home.configuration.thumbnails
        self.init(
            index: index.index, documents: DocumentReader(tree: index.tree, staging: home.home.staging), sync: sync,
            home: ThumbnailHome(directory: home.home.thumbnailsPath, limit: settings.limit), cache: .user,
            maker: ThumbnailMaker(
                recipes: ThumbnailRecipes(),
                directories: WorkDirectory(
                    staging: home.home.stagingPath, purpose: "thumbnails",
                    name: ThumbnailKey.document(RelativePath(unchecked: Array(home.home.path.utf8))))),
            mountpoint: mountpoint, settings: settings, logger: logger)
    }
}
