import Foundation
import QuireCore

extension FileCoordinator {
    /// The intents of a preparation.
    ///
    /// - Throws: `.usage` for the options that make sense for an access only.
    func preparation(
        _ readingURLs: [URL], _ readingOptions: ReadingOptions, _ writingURLs: [URL], _ writingOptions: WritingOptions
    ) throws(QuireError) -> [FileAccessIntent] {
        guard !readingOptions.contains(.resolvesSymbolicLink), !writingOptions.contains(.forReplacing) else {
            throw QuireError(
                .usage, "a preparation neither resolves symbolic links nor replaces",
                remedy: "Leave the option to the accesses inside")
        }
        return readingURLs.map { .readingIntent(with: $0, options: readingOptions) }
            + writingURLs.map { .writingIntent(with: $0, options: writingOptions) }
    }
}
