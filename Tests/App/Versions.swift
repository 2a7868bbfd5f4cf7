import Foundation
import Quire

/// What is done with the versions of a document, each change in a coordinated write of it.
enum Versions {
    static func obey(_ verb: String, _ url: URL) async {
        do {
            try await perform(verb, url)
        } catch {
            Output.line("refused", verb, Output.describe(error))
        }
    }

    /// Once as it is, and once by way of the directory for new versions.
    static func add(_ contents: URL, to url: URL) async {
        do {
            let version = try await FileCoordinator().coordinate(writingItemAt: url) { url in
                try await FileVersion.addOfItem(at: url, withContentsOf: contents)
            }
            let directory = try await FileVersion.temporaryDirectoryURLForNewVersionOfItem(at: url)
            let staged = directory.appending(path: "staged")
            try Data("staged\n".utf8).write(to: staged)
            try await FileVersion.addOfItem(at: url, withContentsOf: staged, options: .byMoving)
            let isGone = !FileManager.default.fileExists(atPath: staged.path)
            try FileManager.default.removeItem(at: directory)
            Output.line("added", "\(version.isConflict)", "\(version.isResolved)", "\(isGone)")
        } catch {
            Output.line("refused", "add", Output.describe(error))
        }
    }

    private static func perform(_ verb: String, _ url: URL) async throws {
        switch verb {
        case "versions": try await show(url)
        case "replace":
            try await withFirst(url) { version in try await version.replaceItem(at: url) }
        case "resolve":
            try await withFirst(url) { version in
                try await version.resolve()
                Output.line("resolved", "\(version.isResolved)")
            }
        case "move":
            try await withFirst(url) { version in try await version.replaceItem(at: url, options: .byMoving) }
        case "discard":
            try await withFirst(url) { version in
                try await version.makeDiscardable()
                let again = try await FileVersion.version(
                    itemAt: url, forPersistentIdentifier: version.persistentIdentifier)
                Output.line("discardable", "\(version.isDiscardable)", "\(again?.isDiscardable == true)")
            }
        case "nonlocal":
            Output.line("nonlocal", "\(try await FileVersion.nonlocalVersionsOfItem(at: url).count)")
        case "download": try await download(url)
        case "remove": try await withFirst(url) { try await $0.remove() }
        case "remove-conflicts":
            try await FileCoordinator().coordinate(writingItemAt: url) { url in
                for version in try await FileVersion.unresolvedConflictVersionsOfItem(at: url) {
                    try await version.remove()
                }
            }
            Output.line("done")
        case "remove-current":
            try await FileVersion.currentVersionOfItem(at: url)?.remove()
        case "remove-others":
            try await FileCoordinator().coordinate(writingItemAt: url) { url in
                try await FileVersion.removeOtherVersionsOfItem(at: url)
            }
        case "details": try await details(url)
        default: try await values(url)
        }
    }

    /// The oldest that only the provider keeps.
    private static func download(_ url: URL) async throws {
        guard let oldest = try await FileVersion.nonlocalVersionsOfItem(at: url).last else {
            return Output.line("no versions")
        }
        let version = try await oldest.download()
        let again = try await version.download()
        let found = try await FileVersion.version(itemAt: url, forPersistentIdentifier: oldest.persistentIdentifier)
        let text = try version.url.map { try String(contentsOf: $0, encoding: .utf8) } ?? ""
        Output.line(
            "downloaded", text.trimmingCharacters(in: .newlines), "\(version == oldest && again.url == version.url)",
            "\(found?.url == version.url)", "\(oldest.hasLocalContents) \(version.hasLocalContents)")
    }

    private static func withFirst(_ url: URL, _ body: (FileVersion) async throws -> Void) async throws {
        try await FileCoordinator().coordinate(writingItemAt: url) { url in
            guard let first = try await FileVersion.otherVersionsOfItem(at: url).first else {
                return Output.line("no versions")
            }
            try await body(first)
        }
        Output.line("done")
    }

    private static func show(_ url: URL) async throws {
        let current = try await FileVersion.currentVersionOfItem(at: url)
        let others = try await FileVersion.otherVersionsOfItem(at: url)
        let unresolved = try await FileVersion.unresolvedConflictVersionsOfItem(at: url)
        let texts = others.map { other in
            let text = other.url.flatMap { try? String(contentsOf: $0, encoding: .utf8) } ?? "none"
            return "\(text.replacing("\n", with: "|")):\(other.isConflict):\(other.isResolved)"
        }
        var found = 0
        for other in others {
            let again = try await FileVersion.version(itemAt: url, forPersistentIdentifier: other.persistentIdentifier)
            if again == other { found += 1 }
        }
        Output.line(
            "versions", "current=\(current != nil)", "unresolved=\(unresolved.count)", "found=\(found)",
            texts.joined(separator: " "))
    }

    private static func details(_ url: URL) async throws {
        let percent = ["NSURLUbiquitousItemPercentDownloadedKey", "NSURLUbiquitousItemPercentUploadedKey"]
        let values = try await url.promisedItemResourceValues(
            forKeys: Set(percent.map { URLResourceKey(rawValue: $0) }).union([
                .contentTypeKey, .typeIdentifierKey, .localizedTypeDescriptionKey, .creationDateKey,
                .addedToDirectoryDateKey,
                .contentModificationDateKey, .generationIdentifierKey, .fileAllocatedSizeKey, .isPackageKey,
                .isHiddenKey,
                .parentDirectoryURLKey, .ubiquitousItemContainerDisplayNameKey, .documentIdentifierKey, .tagNamesKey,
            ]))
        let dates = [values.creationDate, values.addedToDirectoryDate].compactMap { $0 }
        Output.line(
            "details", "known=\(values.keys.count)", "\(values.contentType?.identifier ?? "none")",
            "image=\(values.contentType?.conforms(to: .image) == true)", values.localizedTypeDescription ?? "none",
            "dates=\(dates.count)", "modified=\(Int(values.contentModificationDate?.timeIntervalSince1970 ?? 0))",
            "generation=\(values.generationIdentifier != nil)", "allocated=\(values.fileAllocatedSize ?? -1)",
            "package=\(values.isPackage == true)", "hidden=\(values.isHidden == true)",
            "in=\(values.parentDirectory?.lastPathComponent ?? "none")",
            "percent=\(Int(values.ubiquitousItemPercentDownloaded ?? -1))/\(Int(values.ubiquitousItemPercentUploaded ?? -1))",
            "tags=\(values.tagNames?.joined(separator: ",") ?? "none")",
            "container=\(values.ubiquitousItemContainerDisplayName ?? "none")")
    }

    private static func values(_ url: URL) async throws {
        let keys: Set<URLResourceKey> = [
            .fileSizeKey, .isDirectoryKey, .ubiquitousItemDownloadingStatusKey, .ubiquitousItemIsUploadedKey,
            .ubiquitousItemHasUnresolvedConflictsKey, .generationIdentifierKey, .thumbnailDictionaryKey,
        ]
        let values = try await url.promisedItemResourceValues(forKeys: keys)
        let isReachable = try await url.checkPromisedItemIsReachable()
        Output.line(
            "values", "reachable=\(isReachable)", "size=\(values.fileSize ?? -1)", "known=\(values.keys.count)",
            "\(values.ubiquitousItemDownloadingStatus.map { "\($0)" } ?? "none")",
            "uploaded=\(values.ubiquitousItemIsUploaded == true)",
            "thumbnails=\(values.thumbnailDictionary?.count ?? -1)",
            "conflicts=\(values.ubiquitousItemHasUnresolvedConflicts == true)")
    }
}
