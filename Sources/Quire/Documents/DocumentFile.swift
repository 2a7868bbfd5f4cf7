import CLinux
import Foundation
import Glibc
import QuireCore

/// A document's file or package, read and written whole. Blocks on the file system: call it in `LibraryExecutor.run`, in an
/// access.
struct DocumentFile: Sendable {
    let url: URL
    /// Whether directories can be exchanged in one step; tried, and then known.
    var exchanges = true

    init(url: URL) { self.url = url }

    /// The content, and by what it is known again.
    ///
    /// - Throws: what Foundation throws where it cannot be read; `.usage` for a directory that is no package, and as
    ///   `FileWrapper.init(url:)`.
    func read() throws -> (FileWrapper, ContentStamp?) {
        var status = stat()
        if stat(url.path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, !isPackage {
            throw QuireError(
                .usage, "\(url.path) is a directory",
                remedy: "A document is a file, or a directory with a package's extension")
        }
        let stamp = stamp()
        return (try FileWrapper(url: url), stamp)
    }

    private var isPackage: Bool {
        RelativePath(parsing: url.lastPathComponent).map { PackageNames().contains($0) } ?? false
    }

    /// By what the content that is there is known again; nil where nothing is.
    func stamp() -> ContentStamp? { ContentStamp(path: url.path) }

    /// Puts `contents` in the place of what is there in one step, so that nobody reads half of it; on disk after `flushName()`.
    ///
    /// It is built beside it, under a name that is ephemeral, so that renaming a file over the document, or exchanging a
    /// package with it, is a write of the document: identity, tags and creation date stay. Permissions and attributes are
    /// taken over.
    /// - Parameter keepsOther: what is there is put beside it as a conflict copy first.
    /// - Returns: by what the content is known again.
    func replace(with contents: FileWrapper, keepsOther: Bool) throws -> ContentStamp? {
        try staged(install: install) { staged in
            try WrapperWriter().write(contents, to: staged, like: url)
            if keepsOther { try keepOther() }
        }
        return ContentStamp(path: url.path)
    }

    /// Puts a copy of `source` in the place of what is there, in one step; on disk when this returns.
    func replace(withCopyOf source: URL) throws {
        try staged(install: install) { try DurableCopy.make(of: source, at: $0) }
        try flushName()
    }

    /// Moves what is at `source`, on another file system, to where nothing is: it is here, on disk, before it is removed there.
    ///
    /// - Throws: `.busy` where it changes meanwhile, and for a name that is taken what Foundation does: nothing is here then. It
    ///   is in both places where it cannot be removed.
    func take(from source: URL) throws {
        try staged(install: nameNew) { staged in
            // A document that is not here may have another time once it is.
            if try !copy(source, to: staged) {
                try FileManager.default.removeItem(at: staged)
                guard try copy(source, to: staged) else {
                    throw QuireError(
                        .busy, "\(source.path) changed while it was copied",
                        remedy: "Move it again when nobody writes to it")
                }
            }
        }
        try flushName()
        try FileManager.default.removeItem(at: source)
    }

    /// - Returns: whether `source` was all the time as it is.
    private func copy(_ source: URL, to staged: URL) throws -> Bool {
        // What a symbolic link leads to stays where it is.
        let isLink = Self.kind(source) == S_IFLNK
        let before = isLink ? nil : ContentStamp(path: source.path)
        try DurableCopy.make(of: source, at: staged)
        return if let before { ContentStamp(path: source.path)?.matches(before) ?? false } else { isLink }
    }

    private func nameNew(_ staged: URL) throws {
        guard try NewName.give(to: staged, url) else { throw FileWrapper.failure(EEXIST, url) }
    }

    /// Has the document's name stand for what was put in its place also after a loss of power.
    ///
    /// Where its directory cannot be opened, as one that may be written to and not listed, the document is written through in
    /// its place: file systems that keep a log write the name with it.
    func flushName() throws {
        do {
            try DurableCopy.flush(namesIn: url.deletingLastPathComponent())
        } catch let error as CocoaError
            where error.code == .fileReadNoPermission || error.code == .fileWriteNoPermission
        {
            try DurableCopy.flush(url)
        }
    }

    /// Has `build` make something, written through, at the URL that it is handed, beside the document, and installs it; nothing
    /// of it stays where either fails.
    private func staged(install: (URL) throws -> Void, _ build: (URL) throws -> Void) throws {
        let staged = beside()
        do {
            try build(staged)
            try install(staged)
        } catch {
            // Not there where making it failed.
            try? FileManager.default.removeItem(at: staged)
            throw error
        }
    }

    private func beside() -> URL {
        url.deletingLastPathComponent().appending(
            path: ".~quire-\(UUID().uuidString).tmp~", directoryHint: .notDirectory)
    }

    /// A file takes another's place by a rename. With a directory on either side the two are exchanged, and the one that was
    /// there is removed.
    private func install(_ staged: URL) throws {
        guard let there = Self.kind(url), there == S_IFDIR || Self.kind(staged) == S_IFDIR else {
            return try WrapperWriter.check(rename(staged.path, url.path), url)
        }
        if exchanges,
            quire_renameat2(AT_FDCWD, staged.path, AT_FDCWD, url.path, quire_RENAME_EXCHANGE) == 0
        {
            return removeOld(staged)
        }
        guard !exchanges || [EINVAL, ENOSYS, EOPNOTSUPP].contains(errno) else {
            throw FileWrapper.failure(errno, url)
        }
        try installInSteps(staged)
    }

    /// Where the store's file system exchanges nothing: for a moment nothing is at the place, and where the second step fails
    /// the first is taken back.
    private func installInSteps(_ staged: URL) throws {
        let old = beside()
        try WrapperWriter.check(rename(url.path, old.path), url)
        guard rename(staged.path, url.path) == 0 else {
            let failure = FileWrapper.failure(errno, url)
            try WrapperWriter.check(rename(old.path, url.path), url)
            throw failure
        }
        removeOld(old)
    }

    private func removeOld(_ old: URL) {
        // The document is saved. What stays is ephemeral by its name, and in nobody's way.
        try? FileManager.default.removeItem(at: old)
    }

    private static func kind(_ url: URL) -> mode_t? {
        var status = stat()
        return lstat(url.path, &status) == 0 ? status.st_mode & S_IFMT : nil
    }

    /// Copies what is there, under the name that sync gives to copies of a conflict: the daemon lists it as a version. Whole
    /// and on disk when this returns, and nothing of it where it throws.
    private func keepOther() throws {
        var copy = url
        try staged(install: { copy = try nameAsCopy($0) }) { try DurableCopy.make(of: url, at: $0) }
        try DocumentFile(url: copy).flushName()
    }

    private func nameAsCopy(_ staged: URL) throws -> URL {
        guard let name = FileName(url.lastPathComponent) else {
            throw QuireError(.usage, "\(url.path) is no document's name")
        }
        let style = Date.ISO8601FormatStyle(timeZone: .current).year().month().day()
        let names = ConflictName.candidates(
            original: name, date: Date.now.formatted(style), device: Self.deviceName)
        for copy in names.prefix(100) {
            let target = url.deletingLastPathComponent().appending(path: copy.description)
            if try NewName.give(to: staged, target) { return target }
        }
        throw QuireError(
            .failed, "\(url.path): it has too many conflict copies", remedy: "End them with `quire resolve`")
    }

    private static var deviceName: String { ProcessInfo.processInfo.hostName }
}
