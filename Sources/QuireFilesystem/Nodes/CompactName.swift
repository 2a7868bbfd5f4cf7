import Glibc
import QuireCore

/// A file name in as little memory as it takes: a million nodes have one each.
struct CompactName: ~Copyable {
    // Ended by NUL, which no name contains; owned, freed in `deinit`.
    private let bytes: UnsafeMutablePointer<UInt8>

    init(_ name: FileName) {
        let count = name.bytes.count
        bytes = .allocate(capacity: count + 1)
        name.bytes.withUnsafeBufferPointer { source in
            if let start = source.baseAddress { bytes.initialize(from: start, count: count) }
        }
        bytes[count] = 0
    }

    deinit { bytes.deallocate() }

    private var count: Int { bytes.withMemoryRebound(to: CChar.self, capacity: 1) { strlen($0) } }

    /// The name as others use it.
    var fileName: FileName { FileName(unchecked: Array(UnsafeBufferPointer(start: bytes, count: count))) }

    /// Whether it is `name`.
    borrowing func matches(_ name: FileName) -> Bool {
        let count = name.bytes.count
        return name.bytes.withUnsafeBufferPointer { other in
            guard let start = other.baseAddress else { return bytes[0] == 0 }
            // Up to the NUL at most: no name has one before its end.
            return strncmp(
                UnsafeRawPointer(bytes).assumingMemoryBound(to: CChar.self),
                UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self), count) == 0 && bytes[count] == 0
        }
    }
}
