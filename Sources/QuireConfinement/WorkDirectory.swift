package import Foundation
import Glibc
package import QuireCore

/// Where one confined program works: made for it, removed after it.
///
/// Below the staging directory; where the daemon is root's, whose directories nobody else may pass, below `/var/tmp`.
package struct WorkDirectory: Sendable {
    private let parent: String
    private let isShared: Bool

    /// - Parameters:
    ///   - staging: the drive's staging directory.
    ///   - purpose: a word that tells what works there; each has a directory of its own, as `sweep` empties it.
    ///   - name: of this drive's directory below `/var/tmp`, the same at each start.
    package init(staging: String, purpose: String, name: String) {
        isShared = geteuid() == 0
        parent = isShared ? "/var/tmp/quire-\(purpose)-\(name)" : staging
    }

    /// Removes what an earlier daemon left; nothing that is somebody else's, who could change it meanwhile.
    package func sweep() { if isShared, Self.isOwn(parent) { Self.remove(parent) } }

    private static func isOwn(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_uid == geteuid()
    }

    /// Makes an empty directory that the program may write to.
    ///
    /// - Returns: its absolute path; `remove` it afterwards.
    package func make() throws(QuireError) -> String {
        if isShared {
            _ = mkdir(parent, 0o711)
            // In a directory that everybody may write to somebody else may have been first.
            guard Self.isOwn(parent) else {
                throw QuireError(.unavailable, "\(parent) is not a directory of root's", remedy: "Remove it")
            }
        }
        var template = Array("\(parent)/confined-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw QuireError(.unavailable, "no directory can be made in \(parent): \(String(cString: strerror(errno)))")
        }
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        if isShared, chown(path, ConfinedProgram.nobody, ConfinedProgram.nobody) != 0 {
            Self.remove(path)
            throw QuireError(.unavailable, "\(path) cannot be given away: \(String(cString: strerror(errno)))")
        }
        return path
    }

    /// Lets the program read a file in its directory.
    package func hand(_ file: String) {
        if isShared { _ = lchown(file, ConfinedProgram.nobody, ConfinedProgram.nobody) }
    }

    /// As `make()`, with a copy of a document in it, which the program may read.
    ///
    /// - Parameters:
    ///   - copy: absolute path of a file that is worth nothing otherwise: it is gone afterwards, on failure, too.
    ///   - name: of what it becomes there.
    package func make(with copy: String, as name: String) throws(QuireError) -> String {
        defer { unlink(copy) }
        let directory = try make()
        let target = "\(directory)/\(name)"
        if rename(copy, target) != 0 {
            do {
                // Another filesystem.
                try FileManager.default.moveItem(atPath: copy, toPath: target)
            } catch {
                Self.remove(directory)
                throw QuireError(.failed, "\(copy) cannot be brought to \(target): \(error)")
            }
        }
        hand(target)
        return directory
    }

    /// What a program left in a file of its directory; nil for anything but a plain file of at most `limit` bytes.
    package static func read(_ path: String, limit: Int) -> Data? {
        // The program may have put a link, or a pipe, in place of a file.
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= limit
        else { return nil }
        return (try? DescriptorReading.rest(of: descriptor)).map { Data($0) }
    }

    /// The names in a directory, in no order.
    package static func names(in path: String) -> [String] {
        var names: [String] = []
        forEach(path) { child, _ in names.append(String(child.dropFirst(path.count + 1))) }
        return names
    }

    /// Removes a directory with all below it, following no link.
    package static func remove(_ path: String) {
        forEach(path) { child, kind in
            if kind == S_IFDIR { remove(child) } else { unlink(child) }
        }
        _ = rmdir(path)
    }

    /// The bytes that lie in a directory and in those in it.
    static func size(_ path: String, depth: Int = 8) -> Int64 {
        var sum: Int64 = 0
        forEach(path) { child, kind in
            var status = stat()
            if kind == S_IFDIR, depth > 0 {
                sum += size(child, depth: depth - 1)
            } else if lstat(child, &status) == 0 {
                sum += Int64(status.st_blocks) * 512
            }
        }
        return sum
    }

    private static func forEach(_ path: String, _ body: (String, mode_t) -> Void) {
        // A link in place of the directory is not followed.
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        guard let directory = fdopendir(descriptor) else {
            close(descriptor)
            return
        }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name != ".", name != ".." else { continue }
            var status = stat()
            guard lstat("\(path)/\(name)", &status) == 0 else { continue }
            body("\(path)/\(name)", status.st_mode & S_IFMT)
        }
    }
}
