import CLinux
import Glibc
package import QuireCore

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

    /// Whether a file can be a placeholder: only then is its mark worth reading.
    package static func isCandidate(_ status: FileStatus) -> Bool { status.mayBePlaceholder }

    /// The mark of an open file (not by O_PATH), where it counts: see `PlaceholderMark`. The file's position is anywhere
    /// afterwards.
    package static func mark(
        of file: borrowing OwnedDescriptor, shown item: @autoclosure () -> String = "an open file"
    ) throws(StoreError) -> Mark {
        try mark(of: file, try file.status(), shown: item())
    }

    /// The same of a file whose status is known.
    static func mark(
        of file: borrowing OwnedDescriptor, _ status: FileStatus, shown item: @autoclosure () -> String
    ) throws(StoreError) -> Mark {
        guard let value = try file.attribute(StoreAttribute.placeholder, item()),
            PlaceholderMark(of: file.rawValue, status) == .counts
        else { return .none }
        return Placeholder(parsing: value).map(Mark.placeholder) ?? .unreadable
    }

    /// The mark of the file at `path`; opens it only when it is a candidate. `.none` where nothing, or no file, is
    /// there.
    package static func mark(at path: RelativePath, in tree: DriveTree) throws(StoreError) -> Mark {
        try look(at: path, in: tree).mark
    }

    /// The same with the status of what is there, nil where nothing is.
    package static func look(
        at path: RelativePath, in tree: DriveTree
    ) throws(StoreError) -> (status: FileStatus?, mark: Mark) {
        guard !path.isRoot else { return (try tree.status(at: path), .none) }
        let location: DriveTree.Location
        do throws(StoreError) { location = try tree.location(of: path) } catch {
            guard error.code == .notFound else { throw error }
            return (nil, .none)
        }
        let status = try location.status(shown: path)
        guard let status, isCandidate(status) else { return (status, .none) }
        let file = try location.openForReading(shown: path)
        let opened = try file.status()
        return (opened, try mark(of: file, opened, shown: path.description))
    }

    /// Makes a placeholder in `staging`, ready to be installed.
    ///
    /// It is fsynced: a name must never lead to a file whose mark was lost.
    /// - Parameter size: greater than 0; an empty document is a real empty file.
    /// - Returns: its absolute path.
    package static func create(
        _ placeholder: Placeholder, size: ByteCount, mtime: FileTime, mode: UInt16, in staging: Staging
    ) throws(StoreError) -> String {
        let file = try make(placeholder, size: size, mtime: mtime, mode: mode, in: staging)
        try file.descriptor.sync(file.path)
        return file.keep()
    }

    /// As `create`, of one of many: to be installed once they are written through, by `Staging.writeThrough`.
    package static func stage(
        _ placeholder: Placeholder, size: ByteCount, mtime: FileTime, mode: UInt16, in staging: Staging
    ) throws(StoreError) -> String {
        try make(placeholder, size: size, mtime: mtime, mode: mode, in: staging).keep()
    }

    private static func make(
        _ placeholder: Placeholder, size: ByteCount, mtime: FileTime, mode: UInt16, in staging: Staging
    ) throws(StoreError) -> StagedFile {
        precondition(size > .zero, "an empty file needs no placeholder")
        let file = try staging.createFile("placeholder")
        try file.descriptor.setAttribute(StoreAttribute.placeholder, placeholder.encoded, file.path)
        try systemCall("set the size of", file.path) { ftruncate(file.descriptor.rawValue, off_t(size.bytes)) }
        try file.descriptor.setMode(mode, file.path)
        try file.descriptor.setModificationTime(mtime, file.path)
        return file
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
