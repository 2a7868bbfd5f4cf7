import Foundation

/// The names on the socket of what Foundation calls ubiquity attributes.
enum UbiquityAttributes {
    private static let names: [(key: URLResourceKey, name: String)] = [
        (.isUbiquitousItemKey, "isUbiquitousItem"),
        (.ubiquitousItemHasUnresolvedConflictsKey, "hasUnresolvedConflicts"),
        (.ubiquitousItemDownloadingStatusKey, "downloadingStatus"),
        (.ubiquitousItemIsDownloadingKey, "isDownloading"),
        (.ubiquitousItemDownloadingErrorKey, "downloadingError"),
        (.ubiquitousItemDownloadRequestedKey, "downloadRequested"),
        (.ubiquitousItemIsUploadedKey, "isUploaded"),
        (.ubiquitousItemIsUploadingKey, "isUploading"),
        (.ubiquitousItemUploadingErrorKey, "uploadingError"),
        (.ubiquitousItemContainerDisplayNameKey, "containerDisplayName"),
    ]

    /// Keys that are no ubiquity attributes go by their own names.
    static func names(of keys: Set<URLResourceKey>) -> [String] {
        keys.map { key in names.first { $0.key == key }?.name ?? key.rawValue }.sorted()
    }

    static func keys(of words: some Sequence<String>) -> Set<URLResourceKey> {
        Set(words.map { word in names.first { $0.name == word }?.key ?? URLResourceKey(rawValue: word) })
    }
}
