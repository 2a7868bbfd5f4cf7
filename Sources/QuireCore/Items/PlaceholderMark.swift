import CLinux
import Glibc

/// What `StoreAttribute.placeholder` on a file in the store means: the one rule of all who ask.
///
/// A program that goes around the daemon empties and fills a file without taking its attributes away, and a daemon may end
/// between emptying a placeholder and taking its mark away. So the mark counts only as long as the file can be a placeholder
/// and has no byte other than zero. Where zeros lie on the disk instead of a hole, as in a copy from a backup, it counts all
/// the same: they are not the document's content.
package enum PlaceholderMark: Sendable, Hashable {
    /// There is none.
    case absent
    /// The file's content is not here.
    case counts
    /// It was left on a file that has content of its own, or is empty.
    case stale

    /// Looks at an open file (not by O_PATH), for any thread; where its position is afterwards is not said.
    ///
    /// One system call where there is no mark, one more for a placeholder. Of other files with a mark it reads what is on the
    /// disk, up to the first byte other than zero. The mark of a file that cannot be read is believed.
    ///
    /// - Parameter status: of that file.
    package init(of descriptor: Int32, _ status: FileStatus) {
        if fgetxattr(descriptor, StoreAttribute.placeholder, nil, 0) < 0 {
            self = .absent
        } else if (try? Self.isZeros(descriptor, status)) ?? true {
            self = .counts
        } else {
            self = .stale
        }
    }

    /// Whether an open file is as a placeholder is, but for its mark: it has a size, and no byte other than zero. Reads as
    /// `init` does.
    package static func isZeros(
        _ descriptor: Int32, _ status: FileStatus
    ) throws(UnreadableContent) -> Bool {
        guard status.mayBePlaceholder else { return false }
        return try !hasContent(descriptor, most: max(status.blocks, 128) * 4096)
    }

    /// - Parameter most: how many bytes are read: no more can have been written, unless the filesystem knows no holes.
    private static func hasContent(_ descriptor: Int32, most: Int64) throws(UnreadableContent) -> Bool {
        var (offset, left) = (off_t(0), most)
        while left > 0 {
            let data = lseek(descriptor, offset, quire_SEEK_DATA)
            // A hole up to its end.
            if data < 0, errno == ENXIO { return false }
            offset = max(data, offset)
            switch portion(of: descriptor, at: offset) {
            case .zeros(let count):
                offset += off_t(count)
                left -= Int64(count)
            case .content: return true
            case .end: return false
            case .closed:
                // Opened for writing only.
                let reading = open("/proc/self/fd/\(descriptor)", O_RDONLY | O_CLOEXEC)
                guard reading >= 0 else { throw UnreadableContent(errno: errno) }
                defer { close(reading) }
                return try hasContent(reading, most: most)
            case .failed(let errno): throw UnreadableContent(errno: errno)
            }
        }
        return false
    }

    private enum Portion {
        case zeros(Int)
        case content
        case end
        case closed
        case failed(errno: Int32)
    }

    private static func portion(of descriptor: Int32, at offset: off_t) -> Portion {
        withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 16) { buffer in
            let count = pread(descriptor, buffer.baseAddress, buffer.count, offset)
            if count < 0 { return errno == EBADF ? .closed : .failed(errno: errno) }
            guard count > 0 else { return .end }
            return buffer[..<count].allSatisfy { $0 == 0 } ? .zeros(count) : .content
        }
    }
}

/// What is in a file could not be read: neither that it has content nor that it has none.
package struct UnreadableContent: Error, Sendable, Hashable {
    package var errno: Int32

    package init(errno: Int32) { self.errno = errno }
}
