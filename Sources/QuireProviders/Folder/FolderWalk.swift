import Glibc
import QuireCore

/// Lists a whole folder, depth first, with directory descriptors only.
///
/// Another program may rename directories meanwhile, from a part not yet read to one already read. So each directory's
/// stamp is taken before it is read, and directories whose stamp has changed by the end are read again, until none has.
/// Where something changes all the time, the state after 32 such rounds is taken.
struct FolderWalk: ~Copyable {
    private struct Stamp: Equatable {
        var inode: UInt64
        var mtime: FileTime
        var ctime: FileTime

        init(_ facts: FileFacts) {
            self.inode = facts.inode
            self.mtime = facts.mtime
            self.ctime = facts.ctime
        }
    }

    private struct Listing {
        var stamp: Stamp
        var entries: [Entry] = []
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
    private let cancellation: Cancellation
    private let hooks: FolderHooks
    private var listings: [RelativePath: Listing] = [:]

    init(root: borrowing OpenFile, cancellation: Cancellation, hooks: FolderHooks) throws(ProviderError) {
        let descriptor = root.descriptor
        let file = try ErrnoTranslation.about(.root, "read") { () throws(SystemFailure) in
            try SystemCalls.duplicate(descriptor)
        }
        self.device = try ErrnoTranslation.about(.root, "read") { () throws(SystemFailure) in
            try SystemCalls.status(of: descriptor).device
        }
        self.root = Handle(file, depth: 0)
        self.cancellation = cancellation
        self.hooks = hooks
    }

    /// Every entry that providers list.
    ///
    /// - Throws: what keeps a directory from being read, naming it: a listing is whole or none.
    mutating func run() throws(ProviderError) -> [Entry] {
        try read(below: Pending(base: root, names: [], path: .root))
        for _ in 0..<Self.rounds {
            let changed = try changedDirectories()
            if changed.isEmpty { break }
            for path in changed { try readAgain(path) }
        }
        return listings.values.flatMap(\.entries)
    }

    private mutating func read(below start: Pending) throws(ProviderError) {
        var pending = [start]
        while let next = pending.popLast() {
            try cancellation.check()
            guard let handle = try open(next) else { continue }
            try list(next.path, handle)
            guard let listing = listings[next.path] else { continue }
            for entry in listing.entries where entry.facts.kind == .directory && listings[entry.path] == nil {
                guard let name = entry.path.name else { continue }
                let isDeep = handle.depth > Self.deepestHandle
                pending.append(
                    isDeep
                        ? Pending(base: next.base, names: next.names + [name], path: entry.path)
                        : Pending(base: handle, names: [name], path: entry.path))
            }
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
        let device = device
        listings[path] = try ErrnoTranslation.about(path, "listed") { () throws(SystemFailure) in
            var listing = Listing(stamp: Stamp(try SystemCalls.status(of: descriptor)))
            try DirectoryNames.forEach(in: descriptor) { (name) throws(SystemFailure) in
                if let entry = try Self.entry(name, in: path, descriptor) { listing.entries.append(entry) }
            }
            return listing
        }
        hooks.afterDirectory?(path)
        let foreign = listings[path]?.entries.first { $0.facts.device != device }
        if let foreign {
            throw ProviderError(
                .failed,
                "\(foreign.path) is on another filesystem than the provider's folder; add it as a provider of its own")
        }
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
            if facts.map(Stamp.init) != listing.stamp { changed.append(path) }
        }
        return changed
    }

    private mutating func readAgain(_ path: RelativePath) throws(ProviderError) {
        guard let old = listings.removeValue(forKey: path) else { return }
        let pending = Pending(base: root, names: path.components, path: path)
        if let handle = try open(pending) { try list(path, handle) }
        let entries = listings[path]?.entries ?? []
        let present = Dictionary(
            entries.filter { $0.facts.kind == .directory }.map { ($0.path, $0.facts.inode) }, uniquingKeysWith: { $1 })
        let before = old.entries.filter { $0.facts.kind == .directory }
        for gone in before where present[gone.path] != gone.facts.inode { forget(gone.path) }
        for entry in entries where entry.facts.kind == .directory && listings[entry.path] == nil {
            try read(below: Pending(base: root, names: entry.path.components, path: entry.path))
        }
    }

    private mutating func forget(_ path: RelativePath) {
        guard let listing = listings.removeValue(forKey: path) else { return }
        for entry in listing.entries where entry.facts.kind == .directory { forget(entry.path) }
    }
}
