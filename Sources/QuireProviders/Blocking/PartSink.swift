import Glibc
import QuireCore
import Synchronization

/// A file that is there, into which a part of a document is written as it arrives. One caller at a time.
final class PartSink: Sendable {
    private let path: RelativePath
    private let destination: String
    private let file: OpenFile
    private let start: Int64
    private let length: Int64
    /// Innermost lock; writing happens outside.
    private let written = Lock<Int64>(0)

    /// Opens the file. Blocks.
    ///
    /// - Parameters:
    ///   - destination: absolute path of the file.
    ///   - path: the item, for messages.
    ///   - range: where in the file the part belongs.
    init(_ destination: String, for path: RelativePath, _ range: Range<Int64>) throws(ProviderError) {
        file = try ErrnoTranslation.about(path, "brought to \(destination)") { () throws(SystemFailure) in
            OpenFile(
                taking: try SystemCalls.check("open") { open(destination, O_WRONLY | O_NOFOLLOW | O_CLOEXEC) })
        }
        (self.path, self.destination) = (path, destination)
        (start, length) = (range.lowerBound, Int64(range.count))
    }

    /// How much of the part is written.
    var size: ByteCount { ByteCount(written.withLock { $0 }) }

    /// Whether all of it is.
    var isFull: Bool { size.bytes == length }

    /// Writes the next bytes. Blocks.
    func write(_ piece: BodyPiece) throws(ProviderError) {
        try piece.forEachPart { (bytes) throws(ProviderError) in try write(bytes) }
    }

    /// Writes the next bytes. Blocks.
    ///
    /// - Throws: `.corrupt` where they are more than belong to the part; nothing of them is written then.
    func write(_ bytes: UnsafeRawBufferPointer) throws(ProviderError) {
        let done = size.bytes
        guard Int64(bytes.count) <= length - done else {
            throw ProviderError(.corrupt, "\(path): more arrived than was asked for")
        }
        let descriptor = file.descriptor
        try ErrnoTranslation.about(path, "brought to \(destination)") { () throws(SystemFailure) in
            try ContentCopy.write(bytes, to: descriptor, at: start + done)
        }
        written.withLock { $0 = done + Int64(bytes.count) }
    }
}
