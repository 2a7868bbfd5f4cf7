import Foundation
import Quire

/// What `FileManager` does about content that is here or not.
enum Ubiquity {
    static func obey(_ words: [String]) async {
        do {
            try await perform(words[0], words.dropFirst().map { URL(filePath: $0) })
            Output.line("ubiquity", words[0])
        } catch {
            Output.line("refused", words[0], Output.describe(error))
        }
    }

    private static func perform(_ verb: String, _ urls: [URL]) async throws {
        let files = FileManager.default
        switch verb {
        case "start": try await files.startDownloadingUbiquitousItem(at: urls[0])
        case "evict": try await files.evictUbiquitousItem(at: urls[0])
        case "in": try await files.setUbiquitous(true, itemAt: urls[0], destinationURL: urls[1])
        default: try await files.setUbiquitous(false, itemAt: urls[0], destinationURL: urls[1])
        }
    }
}
