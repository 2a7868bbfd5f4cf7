import Logging
import QuireConfinement
import QuireContent
import QuireCore
import QuireStore
import QuireThumbnails

extension ContentReader {
    /// The reader of a drive; looks for programs.
    init(_ home: OpenHome, _ index: DriveIndex, logger: Logger) {
        let name = ThumbnailKey.document(RelativePath(unchecked: Array(home.home.path.utf8)))
        self.init(
            index: index.index, documents: DocumentReader(tree: index.tree, staging: home.home.staging),
            extractor: ContentExtractor(
                directories: WorkDirectory(staging: home.home.stagingPath, purpose: "content", name: name)),
            settings: home.configuration.content, logger: logger)
    }

    /// What a person should know.
    var notes: [String] {
        guard settings.isOn else { return [] }
        return extractor.missing.map { documents, package in
            "the words of \(documents) are not found: Debian's package \(package) is missing"
        }
    }
}
