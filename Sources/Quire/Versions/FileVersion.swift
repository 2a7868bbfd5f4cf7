public import Foundation
import QuireCore
import Synchronization

/// One version of a document: the one that is there, an earlier one that was kept, or one that is in conflict with it
/// (NSFileVersion).
///
/// The conflict copies that sync puts beside a document are its conflict versions. What changes versions is to be done in a
/// coordinated write of the document; presenters are told of it. The usual way out of a conflict: choose or merge, replace
/// or keep the current version, resolve the others, remove them.
public final class FileVersion: Sendable {
    /// Names a version for as long as it exists; can be kept.
    public struct PersistentIdentifier: Codable, Hashable, Sendable {
        /// Nil for the current version.
        let name: String?
    }

    /// The document.
    public let itemURL: URL
    /// Where the version's content is; to be read only. Nil for one that is gone.
    public let url: URL?
    /// When it was written, where that is known.
    public let modificationDate: Date?
    /// Whether it came of a conflict.
    public let isConflict: Bool
    /// The device that wrote it; known of conflict versions.
    public let localizedNameOfSavingComputer: String?
    /// Whether its content is on this device.
    public let hasLocalContents: Bool
    /// Names it.
    public let persistentIdentifier: PersistentIdentifier
    private let resolved: Atomic<Bool>
    private let discardable: Atomic<Bool>

    /// The document's name, for people.
    public var localizedName: String { itemURL.lastPathComponent }

    /// Whether its conflict is over; true of those that came of none. See `resolve()`.
    public var isResolved: Bool { resolved.load(ordering: .relaxed) }

    /// Whether the drive may remove it when room is short. See `makeDiscardable()`.
    public var isDiscardable: Bool { discardable.load(ordering: .relaxed) }

    /// The version's name on the socket; nil for the current one.
    var name: String? { persistentIdentifier.name }

    private init(
        of item: URL, at url: URL?, _ date: Date?, name: String?, device: String?, isResolved: Bool, isHere: Bool,
        isDiscardable: Bool = false
    ) {
        itemURL = item
        self.url = url
        modificationDate = date
        isConflict = device != nil
        localizedNameOfSavingComputer = device
        hasLocalContents = isHere
        persistentIdentifier = PersistentIdentifier(name: name)
        resolved = Atomic(isResolved)
        discardable = Atomic(isDiscardable)
    }

    /// The current one.
    convenience init?(currentOf item: URL) {
        let content = ItemContent(path: item.path)
        guard content.exists else { return nil }
        self.init(
            of: item, at: item, content.modificationDate, name: nil, device: nil, isResolved: true,
            isHere: content.hasBlocks)
    }

    /// A conflict copy that lies beside the document.
    convenience init(conflictCopy name: String, of item: URL, isOver: Bool = false) {
        let url = item.deletingLastPathComponent().appending(path: name, directoryHint: .notDirectory)
        let content = ItemContent(path: url.path)
        let device = FileName(name).flatMap { ConflictName($0) }?.device
        self.init(
            of: item, at: content.exists ? url : nil, content.modificationDate, name: name, device: device ?? "",
            isResolved: isOver, isHere: content.hasBlocks)
    }

    /// A kept version, or one that only the provider keeps: that has no file.
    convenience init(kept version: VersionMethods.Version, of item: URL) {
        let device = version.copy?.path.name.flatMap { ConflictName($0) }?.device
        let seconds = TimeInterval(version.date.time.seconds)
        self.init(
            of: item, at: version.file.map { URL(filePath: $0, directoryHint: .notDirectory) },
            Date(timeIntervalSince1970: seconds + Double(version.date.time.subsecondNanoseconds) / 1e9),
            name: version.name, device: device, isResolved: true, isHere: version.file != nil,
            isDiscardable: version.discardable == true)
    }

    /// One that a presenter is told of.
    convenience init(told name: String, of item: URL, isOver: Bool) {
        if FileName(name).flatMap({ ConflictName($0) }) != nil {
            self.init(conflictCopy: name, of: item, isOver: isOver)
        } else {
            self.init(of: item, at: nil, nil, name: name, device: nil, isResolved: true, isHere: false)
        }
    }

    func markDiscardable() { discardable.store(true, ordering: .relaxed) }

    func markResolved() { resolved.store(true, ordering: .relaxed) }
}

extension FileVersion: Equatable {
    /// Whether both name the same version of the same document.
    public static func == (left: FileVersion, right: FileVersion) -> Bool {
        left.itemURL == right.itemURL && left.persistentIdentifier == right.persistentIdentifier
    }
}
