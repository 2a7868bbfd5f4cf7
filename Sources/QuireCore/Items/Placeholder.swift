/// What a dataless file says of itself: which version, at which container's provider, it stands for (design, rule 4).
///
/// In the store it is a sparse file of the document's size, mtime and mode, with this as `StoreAttribute.placeholder`:
/// ```
/// quire-placeholder 1
/// container default
/// sha256 64 hexadecimal digits        (where known)
/// version the provider's version, to the end of the value
/// ```
package struct Placeholder: Sendable, Hashable {
    package var version: ProviderVersion
    package var container: ContainerID
    package var checksum: ContentChecksum?

    package init(version: ProviderVersion, container: ContainerID, checksum: ContentChecksum? = nil) {
        self.version = version
        self.container = container
        self.checksum = checksum
    }

    /// What a file in the store says of its content.
    package enum Mark: Sendable, Hashable {
        /// The content is here.
        case none
        case placeholder(Placeholder)
        /// Dataless; but of which version cannot be read (damaged, or a newer format). Never uploaded.
        case unreadable

        /// Whether the file's zeros are not its content.
        package var isDataless: Bool { self != .none }
    }

    /// The attribute's value.
    package var encoded: [UInt8] {
        var text = "\(Self.header)\n\(Self.containerKey)\(container)\n"
        if let checksum { text += "\(Self.checksumKey)\(checksum)\n" }
        return Array((text + Self.versionKey + version.rawValue).utf8)
    }

    /// Reads an attribute's value; nil unless it is exactly as `encoded` writes it.
    package init?(parsing value: [UInt8]) {
        guard let text = String(validating: value, as: UTF8.self) else { return nil }
        var lines = text.utf8.split(separator: 0x0A, maxSplits: 3, omittingEmptySubsequences: false)
            .map { String(Substring($0)) }[...]
        guard lines.popFirst() == Self.header else { return nil }
        guard let container = Self.value(of: Self.containerKey, in: lines.popFirst()).flatMap(ContainerID.init) else {
            return nil
        }
        var checksum: ContentChecksum?
        if let hex = Self.value(of: Self.checksumKey, in: lines.first) {
            checksum = ContentChecksum(hex: hex)
            guard checksum != nil else { return nil }
            lines.removeFirst()
        }
        // The version is the rest, whatever characters it holds.
        guard let version = Self.value(of: Self.versionKey, in: lines.joined(separator: "\n")) else { return nil }
        self.init(version: ProviderVersion(version), container: container, checksum: checksum)
        guard encoded == value else { return nil }
    }

    private static func value(of key: String, in line: String?) -> String? {
        guard let line, line.utf8.starts(with: key.utf8) else { return nil }
        return String(Substring(line.utf8.dropFirst(key.utf8.count)))
    }

    private static let header = "quire-placeholder 1"
    private static let containerKey = "container "
    private static let checksumKey = "sha256 "
    private static let versionKey = "version "
}
