import Glibc
package import QuireCore

/// Earlier and conflicting versions of documents, kept so that no edit is ever lost: `versions/<item
/// id>/<time>-<hash>`.
///
/// A version is a plain file (or symlink) with the document's content, mode and mtime; the path it was kept from is its
/// `StoreAttribute.origin`. All calls block on the local disk and may run on any thread.
package struct KeptVersions: Sendable {
    /// Absolute path of the directory.
    package let path: String
    let staging: Staging
    /// Called once a version is kept (for tests).
    package var whenKept: @Sendable () -> Void = {}

    package init(path: String, staging: Staging) {
        self.path = path
        self.staging = staging
    }

    /// One version.
    package struct Version: Sendable, Hashable {
        package var item: ItemID
        /// The file's name: time in UTC to the nanosecond, `-`, 12 digits of the content's SHA-256.
        package var name: String
        /// Absolute path.
        package var path: String
        package var status: FileStatus
        /// The path in the drive that it was kept from; nil for a symlink.
        package var origin: RelativePath?
        /// Whether it may go when room is short.
        package var isDiscardable = false
        /// What its provider calls it, where it was brought from there.
        package var provided: ProviderVersion?
    }

    /// Keeps a snapshot's file by renaming it here; durable once this returns. The snapshot is used up.
    @discardableResult
    package func keep(
        _ snapshot: consuming Snapshot, of item: ItemID, origin: RelativePath, now: FileTime = WallClock.now()
    ) throws(StoreError) -> Version {
        switch snapshot.content {
        case .file(let file):
            do throws(StoreError) {
                let descriptor = try OwnedDescriptor.open(file, O_RDWR | O_NOFOLLOW)
                try finish(descriptor, file, snapshot.status, origin: origin)
            } catch {
                staging.discard(file)
                throw error
            }
            return try adopt(file, snapshot.checksum, item, now)
        case .bytes(let bytes):
            let target = try staging.createFile("version")
            let descriptor = target.descriptor.rawValue
            try bytes.withUnsafeBufferPointer { (bytes) throws(StoreError) in
                try ContentCopy.write(UnsafeRawBufferPointer(bytes), to: descriptor, at: 0, origin.description)
            }
            try finish(target.descriptor, target.path, snapshot.status, origin: origin)
            return try adopt(target.keep(), snapshot.checksum, item, now)
        case .symlink(let target):
            let staged = try staging.createLink(target: target, mtime: snapshot.status.mtime)
            return try adopt(staged, snapshot.checksum, item, now)
        }
    }

    /// Keeps a file that lies in the staging directory, by renaming it here; durable once this returns.
    ///
    /// - Parameter provided: what its provider calls it, where it was brought from there.
    /// - Throws: `.wrongKind` for what is no file.
    package func keep(
        staged file: String, of item: ItemID, origin: RelativePath, provided: ProviderVersion? = nil,
        now: FileTime = WallClock.now()
    ) throws(StoreError) -> Version {
        let descriptor = try OwnedDescriptor.open(file, O_RDWR | O_NOFOLLOW | O_NONBLOCK)
        let status = try descriptor.status()
        guard status.kind == .file else {
            throw StoreError(.wrongKind, "\(file) is no file", errno: EINVAL, remedy: "Only a file's content is kept")
        }
        let checksum = try ContentCopy.checksum(of: descriptor, shown: file).checksum
        if let provided {
            try descriptor.setAttribute(StoreAttribute.providedVersion, Array(provided.rawValue.utf8), file)
        }
        try finish(descriptor, file, status, origin: origin)
        return try adopt(file, checksum, item, now)
    }

    /// Says that a version may go when room is short.
    package func markDiscardable(_ version: Version) throws(StoreError) {
        let file = try OwnedDescriptor.open(version.path, O_RDONLY | O_NOFOLLOW)
        try file.setAttribute(StoreAttribute.discardable, [1], version.path)
    }

    /// Removes versions that may go, the oldest first, while `isNeeded` says so.
    ///
    /// - Returns: how many.
    @discardableResult
    package func makeRoom(while isNeeded: () -> Bool) throws(StoreError) -> Int {
        guard isNeeded() else { return 0 }
        var candidates: [Version] = []
        for item in try items() { candidates += try list(item).filter(\.isDiscardable) }
        var removed = 0
        for version in candidates.sorted(by: { $0.name < $1.name }) where isNeeded() {
            try remove(version)
            removed += 1
        }
        return removed
    }

    /// The versions of an item, oldest first.
    package func list(_ item: ItemID) throws(StoreError) -> [Version] {
        let tree = try DriveTree(opening: path)
        guard let directory = FileName(item.description), try tree.status(at: RelativePath([directory])) != nil else {
            return []
        }
        var versions: [Version] = []
        for entry in try tree.list(RelativePath([directory])) {
            guard let name = entry.name.string else { continue }
            versions.append(try version(item, name, entry.status))
        }
        return versions.sorted { $0.name < $1.name }
    }

    /// The items that have versions.
    package func items() throws(StoreError) -> [ItemID] {
        try DriveTree(opening: path).list(.root).compactMap { $0.name.string.flatMap(ItemID.init) }.sorted()
    }

    /// Removes one version for good.
    package func remove(_ version: Version) throws(StoreError) {
        try systemCall("remove the version", version.path) { unlink(version.path) }
    }

    private func finish(
        _ file: borrowing OwnedDescriptor, _ name: String, _ status: FileStatus, origin: RelativePath
    ) throws(StoreError) {
        // A path may be longer than an attribute may be; the version is worth more than its origin's name.
        if origin.bytes.count <= 1024 { try file.setAttribute(StoreAttribute.origin, origin.bytes, name) }
        try file.setMode(status.mode & 0o777 | 0o400, name)
        try file.setModificationTime(status.mtime, name)
        try file.sync(name)
    }

    /// Renames a finished file into the item's directory.
    private func adopt(_ staged: String, _ checksum: ContentChecksum, _ item: ItemID, _ now: FileTime)
        throws(StoreError)
        -> Version
    {
        let directory = "\(path)/\(item)"
        if try HomeDirectory.create(directory) { try sync(path) }
        let name = "\(now.compactDescription)-\(checksum.description.prefix(12))"
        let target = "\(directory)/\(name)"
        do {
            try systemCall("keep the version", target) {
                RenameCall.withoutReplace(AT_FDCWD, Array(staged.utf8), AT_FDCWD, Array(target.utf8))
            }
        } catch {
            staging.discard(staged)
            // The same content at the same nanosecond is the same version.
            guard error.code == .alreadyExists else { throw error }
        }
        try sync(directory)
        var raw = stat()
        try systemCall("read the attributes of", target) { lstat(target, &raw) }
        whenKept()
        return try version(item, name, FileStatus(raw))
    }

    private func sync(_ directory: String) throws(StoreError) {
        try OwnedDescriptor.open(directory, O_RDONLY | O_DIRECTORY).sync(directory)
    }

    private func version(_ item: ItemID, _ name: String, _ status: FileStatus) throws(StoreError) -> Version {
        let path = "\(path)/\(item)/\(name)"
        var origin: RelativePath?
        var isDiscardable = false
        var provided: ProviderVersion?
        if status.kind == .file {
            let file = try OwnedDescriptor.open(path, O_RDONLY | O_NOFOLLOW)
            let value = try file.attribute(StoreAttribute.origin, path)
            origin = value.map { RelativePath($0.split(separator: 0x2F).compactMap { FileName($0) }) }
            isDiscardable = try file.attribute(StoreAttribute.discardable, path) != nil
            provided = try file.attribute(StoreAttribute.providedVersion, path).map {
                ProviderVersion(String(decoding: $0, as: UTF8.self))
            }
        }
        return Version(
            item: item, name: name, path: path, status: status, origin: origin, isDiscardable: isDiscardable,
            provided: provided)
    }
}

extension FileTime {
    /// `20260131T235959.123456789Z`: UTC; sorts as text as it does in time.
    var compactDescription: String {
        var whole = seconds
        var parts = tm()
        gmtime_r(&whole, &parts)
        func padded(_ value: Int, _ count: Int) -> String {
            let digits = String(value)
            return String(repeating: "0", count: max(0, count - digits.count)) + digits
        }
        let date =
            padded(Int(parts.tm_year) + 1900, 4) + padded(Int(parts.tm_mon) + 1, 2) + padded(Int(parts.tm_mday), 2)
        let time = padded(Int(parts.tm_hour), 2) + padded(Int(parts.tm_min), 2) + padded(Int(parts.tm_sec), 2)
        return "\(date)T\(time).\(padded(subsecondNanoseconds, 9))Z"
    }
}
