import CLinux
import Foundation
import Glibc
import QuireCore

/// Puts wrappers on disk where nothing is yet, written through when it returns. Permissions and the user's attributes are
/// taken over from what they are to replace. Blocks on the file system.
struct WrapperWriter: Sendable {
    /// - Parameter original: what is there now, or may be.
    /// - Throws: `CocoaError` for what the file system refuses; `.usage` for a name that none may have.
    func write(_ wrapper: FileWrapper, to target: URL, like original: URL) throws {
        var before = stat()
        // A link that the document was opened by stands for the document.
        let isThere = stat(original.path, &before) == 0
        let kind = isThere ? before.st_mode & S_IFMT : 0
        switch wrapper.content {
        case .file(let data):
            let descriptor = open(target.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
            try Self.check(descriptor, target)
            let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            try file.write(contentsOf: data)
            try finish(descriptor, target, kind == S_IFREG ? (original, before) : nil)
            try file.close()
        case .symbolicLink(let path): try Self.check(symlink(path, target.path), target)
        case .directory(let children):
            try Self.check(mkdir(target.path, 0o777), target)
            for (name, child) in children.sorted(by: { $0.key < $1.key }) {
                try Self.checkName(name, in: original)
                try write(
                    child, to: target.appending(path: name, directoryHint: .notDirectory),
                    like: original.appending(path: name, directoryHint: .notDirectory))
            }
            let descriptor = open(target.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            try Self.check(descriptor, target)
            defer { close(descriptor) }
            try finish(descriptor, target, kind == S_IFDIR ? (original, before) : nil)
        }
    }

    private func finish(_ descriptor: Int32, _ target: URL, _ original: (url: URL, status: stat)?) throws {
        if let original {
            try copyAttributes(of: original.url, to: descriptor, target)
            try Self.check(fchmod(descriptor, original.status.st_mode & 0o7777), target)
        }
        try Self.check(fsync(descriptor), target)
    }

    /// The user's own attributes; the drive looks after its.
    private func copyAttributes(of original: URL, to descriptor: Int32, _ target: URL) throws {
        var names = [CChar](repeating: 0, count: 65_536)
        let length = listxattr(original.path, &names, names.count)
        guard length > 0 else { return }
        for bytes in names.prefix(length).split(separator: 0) {
            let name = String(decoding: bytes.map(UInt8.init(bitPattern:)), as: UTF8.self)
            guard name.hasPrefix("user."), !name.hasPrefix("user.quire.") else { continue }
            var value = [UInt8](repeating: 0, count: 65_536)
            let count = getxattr(original.path, name, &value, value.count)
            // Removed meanwhile.
            guard count >= 0 else { continue }
            try Self.check(fsetxattr(descriptor, name, value, count, 0), target)
        }
    }

    private static func checkName(_ name: String, in directory: URL) throws {
        guard FileName(name) == nil else { return }
        throw QuireError(
            .usage, "\(directory.path): \"\(name)\" is no file's name", remedy: "Give the file wrapper another name")
    }

    static func check(_ result: Int32, _ url: URL) throws {
        if result < 0 { throw FileWrapper.failure(errno, url) }
    }
}
