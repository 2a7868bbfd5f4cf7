import CLinux
import Glibc
import QuireCore

/// Reads the beginning of files in the store, without following symlinks.
struct ContentOpener: Sendable {
    enum Finding {
        case content([UInt8])
        /// It is there and may not be read.
        case unreadable
        /// Another file is there, none, or a placeholder.
        case another
    }

    /// Of the drive's directory.
    let lister: StoreLister

    /// At most `limit` bytes of the regular file at `path`, provided it is the one that is expected.
    func beginning(of path: RelativePath, inode: UInt64, size: Int64, mtime: FileTime, limit: Int) -> Finding {
        guard let name = path.name, let parent = path.parent, let directory = lister.open(parent) else {
            return .another
        }
        defer { close(directory) }
        let descriptor = Self.open(name, in: directory)
        guard descriptor >= 0 else { return errno == EACCES || errno == EPERM ? .unreadable : .another }
        defer { close(descriptor) }
        var found = stat()
        guard fstat(descriptor, &found) == 0 else { return .unreadable }
        let status = FileStatus(found)
        guard status.kind == .file, status.inode == inode, status.size == size, status.mtime == mtime,
            !(status.mayBePlaceholder && PlaceholderMark(of: descriptor, status) == .counts)
        else { return .another }
        do throws(QuireError) {
            return .content(try DescriptorReading.beginning(of: descriptor, limit: min(limit, Int(size))))
        } catch {
            return .unreadable
        }
    }

    private static func open(_ name: FileName, in directory: Int32) -> Int32 {
        name.withCString { name in
            let flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
            // Reading is no use of the document; only its owner may ask for that.
            let quiet = openat(directory, name, flags | quire_O_NOATIME)
            return quiet < 0 && errno == EPERM ? openat(directory, name, flags) : quiet
        }
    }
}
