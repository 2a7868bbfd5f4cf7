import CLinux
import Foundation
import Glibc
import QuireCore

/// A document's file, read and written whole. Blocks on the file system: call it in `LibraryExecutor.run`, in an access.
struct DocumentFile: Sendable {
    let url: URL

    /// The content, and by what it is known again.
    ///
    /// - Throws: what Foundation throws where it cannot be read; `.usage` for a directory.
    func read() throws -> (Data, ContentStamp?) {
        var isDirectory = false as ObjCBool
        if FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory), isDirectory.boolValue {
            throw QuireError(
                .usage, "\(url.path) is a directory", remedy: "A Document is one file; packages are not read")
        }
        let stamp = stamp()
        return (try Data(contentsOf: url), stamp)
    }

    /// By what the content that is there is known again; nil where nothing is.
    func stamp() -> ContentStamp? {
        awaitRenames()
        return ContentStamp(path: url.path)
    }

    /// Waits until the kernel is done with a rename in the directory: the drive has carried it out, and told of it, a moment
    /// before the name leads to the new file. Both renaming and listing take the directory's lock.
    private func awaitRenames() {
        guard let directory = opendir(url.deletingLastPathComponent().path) else { return }
        _ = readdir(directory)
        closedir(directory)
    }

    /// Puts `data` in the place of what is there in one step, so that nobody reads half of it; on disk when this returns.
    ///
    /// The temporary file beside it is ephemeral by its name, so that its rename is a write of the document: identity, tags and
    /// creation date stay. Permissions and attributes are taken over.
    /// - Parameter keepsOther: what is there is put beside it as a conflict copy first.
    /// - Returns: by what the content is known again.
    func replace(with data: Data, keepsOther: Bool) throws -> ContentStamp? {
        let staged = url.deletingLastPathComponent().appending(path: ".~quire-\(UUID().uuidString).tmp~")
        do {
            try write(data, to: staged)
            if keepsOther { try keepOther() }
            try check(rename(staged.path, url.path), url)
        } catch {
            // Not there where making it failed.
            try? FileManager.default.removeItem(at: staged)
            throw error
        }
        return ContentStamp(path: url.path)
    }

    private func write(_ data: Data, to staged: URL) throws {
        var before = stat()
        let isThere = stat(url.path, &before) == 0
        let descriptor = open(staged.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        try check(descriptor, staged)
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try handle.write(contentsOf: data)
        if isThere {
            try check(fchmod(descriptor, before.st_mode & 0o7777), staged)
            try copyAttributes(to: descriptor, staged)
        }
        try check(fsync(descriptor), staged)
        try handle.close()
    }

    /// The user's own attributes; the drive looks after its.
    private func copyAttributes(to descriptor: Int32, _ staged: URL) throws {
        var names = [CChar](repeating: 0, count: 65_536)
        let length = listxattr(url.path, &names, names.count)
        guard length > 0 else { return }
        for bytes in names.prefix(length).split(separator: 0) {
            let name = String(decoding: bytes.map(UInt8.init(bitPattern:)), as: UTF8.self)
            guard name.hasPrefix("user."), !name.hasPrefix("user.quire.") else { continue }
            var value = [UInt8](repeating: 0, count: 65_536)
            let count = getxattr(url.path, name, &value, value.count)
            // Removed meanwhile.
            guard count >= 0 else { continue }
            try check(fsetxattr(descriptor, name, value, count, 0), staged)
        }
    }

    /// The name that sync gives to copies of a conflict: the daemon lists it as a version.
    private func keepOther() throws {
        guard let name = FileName(url.lastPathComponent) else { return }
        let style = Date.ISO8601FormatStyle(timeZone: .current).year().month().day()
        for attempt in 1...100 {
            let copy = ConflictName.make(
                original: name, date: Date.now.formatted(style), device: Self.deviceName, attempt: attempt)
            let target = url.deletingLastPathComponent().appending(path: copy.description)
            guard !FileManager.default.fileExists(atPath: target.path) else { continue }
            return try FileManager.default.copyItem(at: url, to: target)
        }
        throw QuireError(
            .failed, "\(url.path): it has too many conflict copies", remedy: "End them with `quire resolve`")
    }

    private static var deviceName: String { ProcessInfo.processInfo.hostName }

    private func check(_ result: Int32, _ url: URL) throws {
        guard result < 0 else { return }
        let code = errno
        throw CocoaError(
            code == ENOSPC || code == EDQUOT ? .fileWriteOutOfSpace : .fileWriteUnknown,
            userInfo: [
                NSFilePathErrorKey: url.path,
                NSUnderlyingErrorKey: NSError(domain: NSPOSIXErrorDomain, code: Int(code)),
            ])
    }
}
