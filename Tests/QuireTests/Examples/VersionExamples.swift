import Foundation
import Quire

func endConflict(_ note: URL, with chosen: FileVersion) async throws {
    let conflicts = try await FileVersion.unresolvedConflictVersionsOfItem(at: note)
    for version in conflicts {
        print(version.localizedNameOfSavingComputer ?? "", version.modificationDate ?? .distantPast)
    }

    try await FileCoordinator().coordinate(writingItemAt: note) { url in
        try await chosen.replaceItem(at: url)
        for version in conflicts { try await version.resolve() }
        try await FileVersion.removeOtherVersionsOfItem(at: url)
    }
}

func keep(_ note: URL) async throws {
    try await FileCoordinator().coordinate(writingItemAt: note) { url in
        let version = try await FileVersion.addOfItem(at: url, withContentsOf: url)
        try await version.makeDiscardable()
    }
}

func look(_ note: URL) async throws {
    let values = try await note.promisedItemResourceValues(forKeys: [
        .fileSizeKey, .ubiquitousItemDownloadingStatusKey, .ubiquitousItemHasUnresolvedConflictsKey,
    ])
    if values.ubiquitousItemDownloadingStatus == .notDownloaded {
        print("\(values.fileSize ?? 0) bytes to come")
    }

    try await FileCoordinator().coordinate(readingItemAt: note, options: .immediatelyAvailableMetadataOnly) { url in
        print(try await url.checkPromisedItemIsReachable())
    }
}
