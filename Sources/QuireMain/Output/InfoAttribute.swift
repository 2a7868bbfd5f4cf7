import QuireCore

/// An attribute that `quire info` tells, by its plain name or by Apple's.
struct InfoAttribute: Sendable {
    let name: String
    /// - Parameters: what is known of the item, and the mountpoint; nil while the drive is not mounted.
    let value: @Sendable (ItemInfo, String?) -> InfoValue

    private init(_ name: String, _ value: @escaping @Sendable (ItemInfo) -> InfoValue) {
        self.name = name
        self.value = { info, _ in value(info) }
    }

    private init(_ name: String, ofURL value: @escaping @Sendable (ItemInfo, String?) -> InfoValue) {
        self.name = name
        self.value = value
    }

    /// The attribute of that name; upper and lower case are alike.
    static func named(_ name: String) throws(QuireError) -> InfoAttribute {
        let wanted = name.lowercased()
        if let found = all.first(where: { $0.name.lowercased() == wanted }) { return found }
        throw QuireError(
            .usage, "\"\(name)\" is not an attribute",
            remedy: "Attributes are: \(all.map(\.name).joined(separator: ", "))")
    }

    static var all: [InfoAttribute] { plain + apple }

    /// Those of an item's own, which are there in `--json` as members, too.
    static let plain: [InfoAttribute] = [
        InfoAttribute("path") { .text($0.status.path.path.description) },
        InfoAttribute("id") { .text("\($0.status.id)") },
        InfoAttribute("kind") { .text($0.status.kind.rawValue) },
        InfoAttribute("type") { .text($0.details.type) },
        InfoAttribute("size") { .integer($0.status.size) },
        InfoAttribute("state") { .text($0.status.state.rawValue) },
        InfoAttribute("materialized") { .integer($0.status.materialized) },
        InfoAttribute("created") { .date($0.details.created) },
        InfoAttribute("added") { .date($0.details.added) },
        InfoAttribute("modified") { .date($0.modified) },
        InfoAttribute("changed") { .date($0.changed) },
        InfoAttribute("generation") { .optional($0.details.generation) },
        InfoAttribute("mode") { .text($0.mode) },
        InfoAttribute("container") { .text("\($0.status.container)") },
        InfoAttribute("containerName") { .text($0.details.containerName) },
        InfoAttribute("provider") { .text($0.status.provider) },
        InfoAttribute("version") { .optional($0.status.version?.rawValue) },
        InfoAttribute("checksum") { .optional($0.checksum?.description) },
        InfoAttribute("pinned") { .flag($0.status.pinned) },
        InfoAttribute("tags") { .texts($0.tags) },
        InfoAttribute("target") { .optional($0.symlinkTarget) },
        InfoAttribute("conflicts") { .texts($0.conflicts.map(\.path.description)) },
        InfoAttribute("error") { info in .optional(info.error.map { "\($0.message) (since \($0.since))" }) },
    ]

    /// By the names of `MDItem.h` and `NSMetadataAttributes.h`.
    static let apple: [InfoAttribute] = [
        InfoAttribute("kMDItemFSName") { .text($0.name) },
        InfoAttribute("kMDItemDisplayName") { .text($0.name) },
        InfoAttribute("kMDItemPath") { .text($0.status.path.path.description) },
        InfoAttribute("kMDItemFSSize") { .integer($0.status.size) },
        InfoAttribute("kMDItemFSCreationDate") { .date($0.details.created) },
        InfoAttribute("kMDItemContentCreationDate") { .date($0.details.created) },
        InfoAttribute("kMDItemFSContentChangeDate") { .date($0.modified) },
        InfoAttribute("kMDItemContentModificationDate") { .date($0.modified) },
        InfoAttribute("kMDItemAttributeChangeDate") { .date($0.changed) },
        InfoAttribute("kMDItemDateAdded") { .date($0.details.added) },
        InfoAttribute("kMDItemContentType") { .text($0.details.type) },
        InfoAttribute("kMDItemContentTypeTree") { .texts($0.details.typeTree) },
        InfoAttribute("kMDItemKind") { .optional($0.details.typeName) },
        InfoAttribute("kMDItemUserTags") { .texts($0.tags) },
        InfoAttribute("kMDItemFSInvisible") { .flag($0.name.hasPrefix(".")) },
        InfoAttribute("NSMetadataItemURLKey", ofURL: { .optional($0.url($1)) }),
        InfoAttribute("NSMetadataItemIsUbiquitousKey") { .flag($0.status.state != .localOnly) },
        ubiquitous("HasUnresolvedConflicts") { .flag(!$0.conflicts.isEmpty) },
        ubiquitous("DownloadingStatus") { .text($0.downloadingStatus) },
        ubiquitous("IsDownloading") { .flag($0.status.state == .downloading) },
        ubiquitous("IsUploaded") { .flag($0.details.uploaded) },
        ubiquitous("IsUploading") { .flag($0.status.state == .uploading) },
        ubiquitous("PercentDownloaded") { .number($0.details.percentDownloaded) },
        ubiquitous("PercentUploaded") { .number($0.details.percentUploaded) },
        ubiquitous("DownloadingError") { $0.isHere ? .none : .optional($0.error?.message) },
        ubiquitous("UploadingError") { $0.isHere ? .optional($0.error?.message) : .none },
        ubiquitous("DownloadRequested") { .flag($0.status.state == .downloading || $0.status.pinned) },
        ubiquitous("IsExternalDocument") { _ in .flag(false) },
        ubiquitous("ContainerDisplayName") { .text($0.details.containerName) },
        InfoAttribute("NSMetadataUbiquitousItemURLInLocalContainerKey", ofURL: { .optional($0.url($1)) }),
    ]

    /// `NSMetadataUbiquitousItem…Key`.
    private static func ubiquitous(_ name: String, _ value: @escaping @Sendable (ItemInfo) -> InfoValue)
        -> InfoAttribute
    {
        InfoAttribute("NSMetadataUbiquitousItem\(name)Key", value)
    }
}

extension ItemInfo {
    /// The root has none of its own.
    fileprivate var name: String { status.path.path.name.map { "\($0)" } ?? "" }

    fileprivate var isHere: Bool { status.materialized > 0 || details.percentDownloaded == 100 }

    fileprivate var downloadingStatus: String { DownloadingStatusText(isHere: isHere).rawValue }

    /// On the mount; each byte that is not plain is percent-encoded. (RFC 3986)
    fileprivate func url(_ mountpoint: String?) -> String? {
        guard let mountpoint else { return nil }
        let path =
            Array(mountpoint.utf8) + (status.path.path.isRoot ? [] : [UInt8(ascii: "/")] + status.path.path.bytes)
        return "file://" + path.reduce(into: "") { $0 += Self.encoded($1) }
    }

    private static func encoded(_ byte: UInt8) -> String {
        let character = Character(Unicode.Scalar(byte))
        if byte < 0x80, character.isLetter || character.isNumber || "-._~/".contains(character) {
            return "\(character)"
        }
        return "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }
}
