import Glibc
import QuireCore

/// Whole files on the local disk, for a provider that keeps content elsewhere. Blocks.
enum LocalFiles {
    /// Reads a snapshot, which must be what it says.
    static func read(
        _ content: UploadContent, _ path: RelativePath, _ cancellation: Cancellation
    ) throws(ProviderError) -> [UInt8] {
        let file = try ErrnoTranslation.about(path, "uploaded from \(content.snapshotPath)") {
            () throws(SystemFailure) in
            OpenFile(taking: try SystemCalls.check("open") { open(content.snapshotPath, O_RDONLY | O_CLOEXEC) })
        }
        let descriptor = file.descriptor
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: ContentCopy.chunk)
        while true {
            try cancellation.check()
            let count = try ErrnoTranslation.about(path, "read") { () throws(SystemFailure) in
                try buffer.withUnsafeMutableBufferPointer { (buffer) throws(SystemFailure) in
                    try SystemCalls.check("read") { Int32(Glibc.read(descriptor, buffer.baseAddress, buffer.count)) }
                }
            }
            if count == 0 { break }
            bytes += buffer.prefix(Int(count))
        }
        guard Int64(bytes.count) == content.size.bytes, ContentChecksum.sha256(of: bytes) == content.checksum else {
            throw ProviderError(.corrupt, "\(path): what arrived is not what was sent")
        }
        return bytes
    }

    /// Creates the file at `destination` with `content`; on error nothing is left there.
    static func write(
        _ content: [UInt8], to destination: String, _ path: RelativePath, _ cancellation: Cancellation,
        _ progress: (ByteCount) -> Void
    ) throws(ProviderError) -> ContentChecksum {
        let file = try ErrnoTranslation.about(path, "brought to \(destination)") { () throws(SystemFailure) in
            OpenFile(
                taking: try SystemCalls.check("open") {
                    open(destination, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
                })
        }
        do throws(ProviderError) {
            try cancellation.check()
            try ErrnoTranslation.about(path, "brought to \(destination)") { () throws(SystemFailure) in
                try ContentCopy.write(content, to: file.descriptor)
            }
            progress(ByteCount(Int64(content.count)))
            return ContentChecksum.sha256(of: content)
        } catch {
            _ = unlink(destination)
            throw error
        }
    }
}
