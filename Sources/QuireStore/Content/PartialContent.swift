import Glibc
package import QuireCore

/// The content of a dataless document as far as it is here: a sparse file of the document's size, and beside it a map of which
/// bytes of it are the document's.
///
/// The map is written after the bytes it names are on the disk, so that what it says is true after a crash; what it does not
/// say is taken as absent. The documents' own placeholders are not touched: the content takes their place when it is whole
/// (design, rule 7).
/// ```
/// partial/00a1…        the bytes
/// partial/00a1….map    which of them: `quire-partial 1`, then container, size, ranges and version, a line each
/// ```
package struct PartialContent: Sendable {
    /// What it is the content of.
    package struct Subject: Sendable, Hashable {
        package var item: ItemID
        package var container: ContainerID
        package var version: ProviderVersion
        package var size: Int64

        package init(item: ItemID, container: ContainerID, version: ProviderVersion, size: Int64) {
            self.item = item
            self.container = container
            self.version = version
            self.size = size
        }
    }

    package let subject: Subject
    /// Absolute path of the bytes.
    package let path: String
    private let staging: Staging

    private init(_ subject: Subject, path: String, staging: Staging) {
        (self.subject, self.path, self.staging) = (subject, path, staging)
    }

    /// Finds or makes the file. What is there of another version is removed.
    ///
    /// - Parameters:
    ///   - directory: absolute path of the home's directory for partial content.
    ///   - staging: on the same file system.
    /// - Returns: with it, which bytes are here.
    package static func open(
        _ subject: Subject, in directory: String, staging: Staging
    ) throws(StoreError) -> (content: PartialContent, present: RangeSet<Int64>) {
        let content = PartialContent(subject, path: "\(directory)/\(subject.item)", staging: staging)
        if let present = try content.kept() { return (content, present) }
        content.discard()
        try HomeDirectory.create(directory)
        let file = try OwnedDescriptor.open(content.path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
        try systemCall("set the size of", content.path) { ftruncate(file.rawValue, off_t(subject.size)) }
        return (content, RangeSet())
    }

    /// The same bytes, of another version.
    package func of(_ version: ProviderVersion) -> PartialContent {
        var subject = subject
        subject.version = version
        return PartialContent(subject, path: path, staging: staging)
    }

    /// What is here of an item is of another version from now on, with the same bytes; nothing happens where it is of
    /// yet another. Blocks for as long as the disk takes.
    package static func follow(
        _ item: ItemID, from former: ProviderVersion, to version: ProviderVersion, in directory: String,
        staging: Staging
    ) throws(StoreError) {
        let path = "\(directory)/\(item)"
        guard let map = PartialMap(try read(path + mapSuffix), item: item), map.subject.version == former else {
            return
        }
        try PartialContent(map.subject, path: path, staging: staging).of(version).save(map.present)
    }

    /// Opens the bytes for reading.
    package func reading() throws(StoreError) -> OwnedDescriptor {
        try OwnedDescriptor.open(path, O_RDONLY | O_NOFOLLOW)
    }

    /// Writes the bytes through to the disk, then the map. Blocks for as long as the disk takes.
    ///
    /// - Parameter present: which bytes are here; these must have been written before the call.
    package func save(_ present: RangeSet<Int64>) throws(StoreError) {
        let bytes = try reading()
        try systemCall("write through", path) { fdatasync(bytes.rawValue) }
        let map = try staging.createFile("map")
        let text = Array(PartialMap(subject, present).text.utf8)
        let written = try systemCall("write", map.path) { write(map.descriptor.rawValue, text, text.count) }
        guard written == text.count else { throw StoreError(errno: ENOSPC, "write", map.path) }
        try map.descriptor.sync(map.path)
        let made = map.keep()
        do throws(StoreError) {
            try systemCall("keep", mapPath) { rename(made, mapPath) }
        } catch {
            staging.discard(made)
            throw error
        }
    }

    /// Checks that the bytes are the document's and makes them ready to be installed: mtime, mode, written through.
    ///
    /// All bytes must be here. They are read only where it is known what they should be. `discard` takes the map away once the
    /// file is where it belongs.
    /// - Parameters:
    ///   - file: the bytes, open; at the path another file may lie by now.
    ///   - known: what the content should be, where that is known.
    /// - Returns: false where it is something else, and nothing was done.
    package func finish(
        _ file: borrowing OwnedDescriptor, mtime: FileTime, mode: UInt16, known: ContentChecksum?,
        isCancelled: () -> Bool
    ) throws(StoreError) -> Bool {
        guard try file.status().size == subject.size else { return false }
        if let known, try ContentCopy.checksum(of: file, shown: path, isCancelled: isCancelled).checksum != known {
            return false
        }
        try file.setMode(mode, path)
        try file.setModificationTime(mtime, path)
        try file.sync(path)
        return true
    }

    /// Gives the bytes a name of their own in the staging directory, from which they can be installed.
    ///
    /// - Returns: the absolute path.
    package func take() throws(StoreError) -> String {
        let taken = staging.uniquePath("arrived")
        try systemCall("take", path) { rename(path, taken) }
        return taken
    }

    /// Undoes `take`; nothing happens where the file was installed.
    package func putBack(_ taken: String) throws(StoreError) {
        do throws(StoreError) {
            try systemCall("put back", path) { rename(taken, path) }
        } catch {
            guard error.code == .notFound else { throw error }
        }
    }

    /// Removes bytes and map. Who has the bytes open can go on reading what was here.
    package func discard() { Self.discard(path, staging) }

    /// The same of whatever is here of an item.
    package static func discard(_ item: ItemID, in directory: String, staging: Staging) {
        discard("\(directory)/\(item)", staging)
    }

    private static func discard(_ path: String, _ staging: Staging) {
        staging.discard(path + mapSuffix)
        staging.discard(path)
    }

    /// Which bytes an earlier daemon left of the same subject; nil where it left none, or of another.
    private func kept() throws(StoreError) -> RangeSet<Int64>? {
        let text: [UInt8]
        let bytes: OwnedDescriptor
        do throws(StoreError) {
            text = try Self.read(mapPath)
            bytes = try reading()
        } catch {
            guard error.code == .notFound else { throw error }
            return nil
        }
        guard let map = PartialMap(text, item: subject.item), map.subject == subject else { return nil }
        let status = try bytes.status()
        return status.kind == .file && status.size == subject.size ? map.present : nil
    }

    private var mapPath: String { path + Self.mapSuffix }
    private static let mapSuffix = ".map"

    private static func read(_ path: String) throws(StoreError) -> [UInt8] {
        let file = try OwnedDescriptor.open(path, O_RDONLY | O_NOFOLLOW)
        let size = Int(try file.status().size)
        var text = [UInt8](repeating: 0, count: size)
        let count = try systemCall("read", path) { pread(file.rawValue, &text, size, 0) }
        return Array(text.prefix(count))
    }

    /// What an earlier daemon left of one document.
    package struct Left: Sendable, Hashable {
        package var subject: Subject
        /// How many bytes are here.
        package var present: Int64
    }

    /// What an earlier daemon left; what says nothing of itself is removed. Call before anything is opened.
    package static func left(in directory: String, staging: Staging) throws(StoreError) -> [Left] {
        let names: Set<String>
        do throws(StoreError) {
            names = Set(try DriveTree(opening: directory).list(.root).map { "\($0.name)" })
        } catch {
            guard error.code == .notFound else { throw error }
            return []
        }
        var found: [Left] = []
        for name in names where !name.hasSuffix(mapSuffix) {
            if names.contains(name + mapSuffix), let item = ItemID(name),
                let map = PartialMap(try read("\(directory)/\(name)\(mapSuffix)"), item: item)
            {
                found.append(Left(subject: map.subject, present: map.present.ranges.reduce(0) { $0 + Int64($1.count) }))
            } else {
                staging.discard("\(directory)/\(name)")
            }
        }
        let kept = Set(found.map { "\($0.subject.item)\(mapSuffix)" })
        for name in names where name.hasSuffix(mapSuffix) && !kept.contains(name) {
            staging.discard("\(directory)/\(name)")
        }
        return found
    }
}
