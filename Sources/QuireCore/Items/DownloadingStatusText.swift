/// `NSMetadataUbiquitousItemDownloadingStatus…` of NSMetadataAttributes.h. A copy that is here is always the newest known: what the
/// provider has anew makes it dataless, or is here already.
package enum DownloadingStatusText: String {
    case notDownloaded = "NSMetadataUbiquitousItemDownloadingStatusNotDownloaded"
    case current = "NSMetadataUbiquitousItemDownloadingStatusCurrent"

    package init(isHere: Bool) { self = isHere ? .current : .notDownloaded }
}
