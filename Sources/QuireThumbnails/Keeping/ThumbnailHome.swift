package import Foundation
import Glibc
import Logging
package import QuireCore
import Synchronization

/// The drive's own thumbnails, one a document, in a directory of the home: what the cache is filled from, and what goes to
/// the provider.
///
/// `NAME.png` is a picture, an empty `NAME.none` says that none can be made of that version. Bounded: those used longest ago
/// go. What is there is kept in memory. Blocks on the disk; any thread.
package final class ThumbnailHome: Sendable {
    /// What is known of one version.
    package enum State: Sendable, Hashable {
        case picture, failed
    }

    private struct Entry {
        var key: ThumbnailKey
        var state: State
        var bytes: Int64
        var used: Int
    }

    private struct Contents {
        /// By document.
        var entries: [String: Entry] = [:]
        var bytes: Int64 = 0
    }

    private let directory: String
    private let limit: Int64
    /// Most entries, however small.
    private static let mostEntries = 100_000
    // Innermost lock; the directory is changed while it is held, so that both stay equal.
    private let contents = Lock(Contents())

    /// - Parameters:
    ///   - directory: absolute path; made where it is missing.
    ///   - limit: of all pictures together.
    package init(directory: String, limit: ByteCount) {
        self.directory = directory
        self.limit = limit.bytes
    }

    /// Reads what is there; removes what is no thumbnail's, and of two versions one.
    package func load() {
        _ = mkdir(directory, 0o700)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        contents.withLock { contents in
            contents = Contents()
            for name in names {
                var status = stat()
                guard let key = ThumbnailKey(name: String(name.prefix(49))), lstat(path(name), &status) == 0,
                    name.hasSuffix(".png") || name.hasSuffix(".none"), contents.entries[key.document] == nil
                else {
                    unlink(path(name))
                    continue
                }
                insert(
                    Entry(
                        key: key, state: name.hasSuffix(".png") ? .picture : .failed,
                        bytes: Int64(status.st_size), used: status.st_mtim.tv_sec), into: &contents)
            }
        }
    }

    /// The documents of which something is known.
    package var documents: Set<String> { contents.withLock { Set($0.entries.keys) } }

    /// Whether no more fits in without something else going.
    package var isFull: Bool { contents.withLock { $0.bytes >= limit * 9 / 10 } }

    /// Nil where nothing is known of that version.
    package func state(_ key: ThumbnailKey) -> State? {
        contents.withLock { contents in
            contents.entries[key.document].flatMap { $0.key == key ? $0.state : nil }
        }
    }

    /// The size of the picture; nil where there is none.
    package func size(_ key: ThumbnailKey) -> ByteCount? {
        contents.withLock { contents in
            contents.entries[key.document].flatMap {
                $0.key == key && $0.state == .picture ? ByteCount($0.bytes) : nil
            }
        }
    }

    /// The key of what is known of a document, of whatever version.
    package func key(document: String) -> ThumbnailKey? { contents.withLock { $0.entries[document]?.key } }

    /// The picture; nil where there is none. It counts as used now.
    package func read(_ key: ThumbnailKey) -> Data? {
        contents.withLock { contents in
            guard let entry = contents.entries[key.document], entry.key == key, entry.state == .picture else {
                return nil
            }
            contents.entries[key.document]?.used = time(nil)
            utimensat(AT_FDCWD, file(entry), nil, 0)
            return FileManager.default.contents(atPath: file(entry))
        }
    }

    /// Keeps a picture in place of what is there of the document.
    ///
    /// - Returns: the keys that had to go for it.
    /// - Throws: `.failed` where it cannot be written.
    package func store(_ picture: Data, _ key: ThumbnailKey) throws(QuireError) -> [ThumbnailKey] {
        try keep(picture, Entry(key: key, state: .picture, bytes: Int64(picture.count), used: time(nil)))
    }

    /// Notes that no picture can be made of that version.
    package func noteFailure(_ key: ThumbnailKey) throws(QuireError) {
        _ = try keep(Data(), Entry(key: key, state: .failed, bytes: 0, used: time(nil)))
    }

    /// The document has another name, and may have another time.
    package func move(_ key: ThumbnailKey, to target: ThumbnailKey) {
        contents.withLock { contents in
            guard key != target, let entry = contents.entries[key.document], entry.key == key else { return }
            var moved = entry
            moved.key = target
            let previous = contents.entries[target.document]
            guard rename(file(entry), file(moved)) == 0 else { return }
            if let previous, previous.key.document != key.document { take(previous, from: &contents) }
            if let previous, file(previous) != file(moved), file(previous) != file(entry) { unlink(file(previous)) }
            take(entry, from: &contents)
            insert(moved, into: &contents)
        }
    }

    /// Removes what is known of a document.
    ///
    /// - Returns: its key; nil where nothing was.
    @discardableResult
    package func remove(document: String) -> ThumbnailKey? {
        contents.withLock { contents in
            guard let entry = contents.entries[document] else { return nil }
            unlink(file(entry))
            take(entry, from: &contents)
            return entry.key
        }
    }

    private func keep(_ bytes: Data, _ entry: Entry) throws(QuireError) -> [ThumbnailKey] {
        let staged = path(".\(UUID().uuidString)")
        do {
            try bytes.write(to: URL(filePath: staged))
            _ = chmod(staged, 0o600)
        } catch {
            unlink(staged)
            throw QuireError(.failed, "a thumbnail cannot be kept in \(directory): \(error)")
        }
        return try contents.withLock { contents throws(QuireError) in
            let previous = contents.entries[entry.key.document]
            guard rename(staged, file(entry)) == 0 else {
                let reason = String(cString: strerror(errno))
                unlink(staged)
                throw QuireError(.failed, "a thumbnail cannot be kept in \(directory): \(reason)")
            }
            if let previous {
                take(previous, from: &contents)
                if file(previous) != file(entry) { unlink(file(previous)) }
            }
            insert(entry, into: &contents)
            return makeRoom(in: &contents, sparing: entry.key)
        }
    }

    /// Down to nine tenths, so that not each picture makes room anew.
    private func makeRoom(in contents: inout Contents, sparing key: ThumbnailKey) -> [ThumbnailKey] {
        guard contents.bytes > limit || contents.entries.count > Self.mostEntries else { return [] }
        var gone: [ThumbnailKey] = []
        for entry in contents.entries.values.sorted(by: { $0.used < $1.used }) where entry.key != key {
            guard contents.bytes > limit * 9 / 10 || contents.entries.count > Self.mostEntries * 9 / 10 else { break }
            unlink(file(entry))
            take(entry, from: &contents)
            gone.append(entry.key)
        }
        return gone
    }

    private func insert(_ entry: Entry, into contents: inout Contents) {
        contents.entries[entry.key.document] = entry
        contents.bytes += entry.bytes
    }

    private func take(_ entry: Entry, from contents: inout Contents) {
        contents.entries[entry.key.document] = nil
        contents.bytes -= entry.bytes
    }

    private func file(_ entry: Entry) -> String { path(entry.key.name + (entry.state == .picture ? ".png" : ".none")) }
    private func path(_ name: String) -> String { "\(directory)/\(name)" }
}
