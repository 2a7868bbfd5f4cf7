import Glibc
import QuireCore

/// Lists a whole folder, depth first, with directory descriptors only.
///
/// Another program may rename directories meanwhile, from a part not yet read to one already read. So each directory's
/// stamp is taken before it is read, and directories whose stamp has changed by the end are read again, until none has.
/// Where something changes all the time, the state after 32 such rounds is taken.
///
/// A directory that the daemon may not read keeps nothing else from being listed: it is unseen (`RemoteItem.unseen`).
struct FolderWalk: ~Copyable {
    fileprivate struct Stamp: Equatable {
        var inode: UInt64
        var mtime: FileTime
        var ctime: FileTime

        init(_ facts: FileFacts, inodesStay: Bool) {
            self.inode = inodesStay ? facts.inode : 0
            self.mtime = facts.mtime
            self.ctime = facts.ctime
        }
    }

    fileprivate struct Listing {
        struct Directory {
            var path: RelativePath
            var inode: UInt64
        }

        var stamp: Stamp
        var directories: [Directory] = []
        /// Empty where only the digest is wanted.
        var entries: [Entry] = []
        /// What is on another filesystem.
        var foreign: [RelativePath] = []
        var digest = ListingDigest()
        /// Something in it is not in the digest.
        var isUncertain = false
    }

    struct Entry {
        var path: RelativePath
        var facts: FileFacts
        var target: [UInt8]?
    }

    /// A directory descriptor that stays open while something below it waits to be read.
    private final class Handle {
        let file: OpenFile
        let depth: Int

        init(_ file: consuming OpenFile, depth: Int) {
            self.file = file
            self.depth = depth
        }
    }

    private struct Pending {
        var base: Handle
        /// From `base` down.
        var names: [FileName]
        var path: RelativePath
    }

    /// Deeper directories are opened from the last one of this depth, to spare descriptors.
    private static let deepestHandle = 64
    private static let rounds = 32

    private let root: Handle
    private let device: UInt64
    /// See `FolderVersion`: elsewhere a directory that nobody holds open may have another number each time it is looked at.
    private let inodesStay: Bool
    private let cancellation: Cancellation
    private let hooks: FolderHooks
    /// For a walk that keeps a digest of the entries instead of these: an entry as the item it is, nil where that is not
    /// certain.
    private let digested: ((Entry) -> RemoteItem?)?
    private var listings: [RelativePath: Listing] = [:]
    private var refusals: [RelativePath: ProviderError] = [:]

    init(
        root: borrowing OpenFile, cancellation: Cancellation, hooks: FolderHooks, inodesStay: Bool = true,
        digesting digested: ((Entry) -> RemoteItem?)? = nil
    ) throws(ProviderError) {
        let descriptor = root.descriptor
        let file = try ErrnoTranslation.about(.root, "read") { () throws(SystemFailure) in
            try SystemCalls.duplicate(descriptor)
        }
        self.device = try ErrnoTranslation.about(.root, "read") { () throws(SystemFailure) in
            try SystemCalls.status(of: descriptor).device
        }
        self.root = Handle(file, depth: 0)
        self.inodesStay = inodesStay
        self.cancellation = cancellation
        self.hooks = hooks
        self.digested = digested
    }

    /// Every entry that providers list.
    ///
    /// - Throws: what keeps a directory from being read, naming it, but for what is `unseen`: a listing is whole or none.
    mutating func run() throws(ProviderError) -> [Entry] {
        try readAll()
        return listings.values.flatMap(\.entries)
    }

    /// The digest of what `run` would return, in memory for the directories alone; nil where something is uncertain.
    mutating func digest() throws(ProviderError) -> ListingDigest? {
        try readAll()
        var digest = ListingDigest()
        for listing in listings.values {
            if listing.isUncertain { return nil }
            digest.add(listing.digest)
        }
        for item in unseen { digest.add(item) }
        return digest
    }

    /// The directories that could not be read, as permission is denied, and what is on another filesystem.
    var unseen: [RemoteItem] {
        refusals.map { .unseen($0.key, because: $0.value.cause ?? $0.value.message) }
            + listings.values.flatMap(\.foreign).map { place in
                .unseen(
                    place,
                    because:
                        "\(place) is on another filesystem than the provider's folder, which is no part of it; add it as a "
                        + "provider of its own, or unmount it")
            }
    }

    private mutating func readAll() throws(ProviderError) {
        try read(below: Pending(base: root, names: [], path: .root))
        for _ in 0..<Self.rounds {
            let changed = try changedDirectories()
            if changed.isEmpty { break }
            for path in changed { try readAgain(path) }
        }
    }

    private mutating func read(below start: Pending) throws(ProviderError) {
        var pending = [start]
        while let next = pending.popLast() {
            try cancellation.check()
            guard let handle = try listed(next) else { continue }
            guard let listing = listings[next.path] else { continue }
            for directory in listing.directories where listings[directory.path] == nil {
                guard let name = directory.path.name else { continue }
                let isDeep = handle.depth > Self.deepestHandle
                pending.append(
                    isDeep
                        ? Pending(base: next.base, names: next.names + [name], path: directory.path)
                        : Pending(base: handle, names: [name], path: directory.path))
            }
        }
    }

    /// Reads a directory; nil where it could not be read, as `open` tells, or as permission is denied.
    private mutating func listed(_ pending: Pending) throws(ProviderError) -> Handle? {
        refusals[pending.path] = nil
        do throws(ProviderError) {
            guard let handle = try open(pending) else { return nil }
            try list(pending.path, handle)
            return handle
        } catch {
            guard error.code == .permissionDenied, !pending.path.isRoot else { throw error }
            refusals[pending.path] = error
            return nil
        }
    }

    /// Nil where it went away or became something else; its parent has changed then, too, and is read again.
    private func open(_ pending: Pending) throws(ProviderError) -> Handle? {
        do throws(SystemFailure) {
            let file = try Self.descend(pending.base.file.descriptor, pending.names[...])
            return Handle(file, depth: pending.base.depth + pending.names.count)
        } catch {
            if [ENOENT, ENOTDIR, ELOOP].contains(error.code) { return nil }
            throw ErrnoTranslation.error(error, pending.path, "listed")
        }
    }

    private static func descend(_ base: Int32, _ names: ArraySlice<FileName>) throws(SystemFailure) -> OpenFile {
        var file = try SystemCalls.duplicate(base)
        for name in names {
            let next = try SystemCalls.openDirectory(at: file.descriptor, name)
            file = next
        }
        return file
    }

    private mutating func list(_ path: RelativePath, _ handle: Handle) throws(ProviderError) {
        let descriptor = handle.file.descriptor
        let (device, digested, inodesStay) = (device, digested, inodesStay)
        listings[path] = try ErrnoTranslation.about(path, "listed") { () throws(SystemFailure) in
            var listing = Listing(stamp: Stamp(try SystemCalls.status(of: descriptor), inodesStay: inodesStay))
            try DirectoryNames.forEach(in: descriptor) { (name) throws(SystemFailure) in
                guard let entry = try Self.entry(name, in: path, descriptor) else { return }
                if entry.facts.device == device {
                    listing.add(entry, digested, inodesStay)
                } else {
                    listing.foreign.append(entry.path)
                }
            }
            return listing
        }
        hooks.afterDirectory?(path)
    }

    /// - Parameter name: of the entry, NUL-terminated, valid during the call.
    /// - Returns: nil for what providers do not list, and for what went away.
    private static func entry(
        _ name: UnsafePointer<CChar>, in directory: RelativePath, _ descriptor: Int32
    ) throws(SystemFailure) -> Entry? {
        let bytes = DirectoryNames.bytes(of: name)
        if directory.isRoot, bytes.elementsEqual(FolderLayout.control.bytes) { return nil }
        do throws(SystemFailure) {
            let facts = try SystemCalls.facts(descriptor, name, flags: AT_SYMLINK_NOFOLLOW)
            guard facts.kind.isSynced else { return nil }
            let target =
                facts.kind == .symlink
                ? try SystemCalls.readSymlink(at: descriptor, name, size: facts.size) : nil
            return Entry(path: directory.appending(FileName(unchecked: Array(bytes))), facts: facts, target: target)
        } catch {
            // EINVAL: readlink of what is no symlink any more. The directory's stamp has changed with it.
            if error.code == ENOENT || error.code == EINVAL { return nil }
            throw error
        }
    }

    private func changedDirectories() throws(ProviderError) -> [RelativePath] {
        var changed: [RelativePath] = []
        for (path, listing) in listings {
            let descriptor = root.file.descriptor
            let facts: FileFacts?
            do throws(SystemFailure) {
                facts = try SystemCalls.withNulTerminated(path.isRoot ? [0x2E] : path.bytes) {
                    (text) throws(SystemFailure) in
                    try SystemCalls.facts(descriptor, text, flags: AT_SYMLINK_NOFOLLOW)
                }
            } catch {
                switch error.code {
                case ENAMETOOLONG: continue  // Too deep for one path; its stamp stays unchecked.
                case ENOENT, ENOTDIR: facts = nil
                default: throw ErrnoTranslation.error(error, path, "listed")
                }
            }
            if facts.map({ Stamp($0, inodesStay: inodesStay) }) != listing.stamp { changed.append(path) }
        }
        return changed
    }

    private mutating func readAgain(_ path: RelativePath) throws(ProviderError) {
        guard let old = listings.removeValue(forKey: path) else { return }
        _ = try listed(Pending(base: root, names: path.components, path: path))
        let directories = listings[path]?.directories ?? []
        let present = Dictionary(directories.map { ($0.path, $0.inode) }, uniquingKeysWith: { $1 })
        for gone in old.directories where !inodesStay || present[gone.path] != gone.inode { forget(gone.path) }
        for directory in directories where listings[directory.path] == nil {
            try read(below: Pending(base: root, names: directory.path.components, path: directory.path))
        }
    }

    private mutating func forget(_ path: RelativePath) {
        refusals[path] = nil
        guard let listing = listings.removeValue(forKey: path) else { return }
        for directory in listing.directories { forget(directory.path) }
    }
}

extension FolderWalk.Listing {
    fileprivate mutating func add(
        _ entry: FolderWalk.Entry, _ digested: ((FolderWalk.Entry) -> RemoteItem?)?, _ inodesStay: Bool
    ) {
        if entry.facts.kind == .directory {
            directories.append(Directory(path: entry.path, inode: inodesStay ? entry.facts.inode : 0))
        }
        guard let digested else {
            entries.append(entry)
            return
        }
        if let item = digested(entry) { digest.add(item) } else { isUncertain = true }
    }
}
