import Glibc
import QuireCore

extension UploadContent {
    /// Reads `length` bytes from `offset` on, piece by piece. Blocks.
    ///
    /// - Throws: `.corrupt` where the snapshot is shorter.
    func read(
        _ path: RelativePath, _ offset: Int64, _ length: Int64, each: ([UInt8]) throws(ProviderError) -> Void
    ) throws(ProviderError) {
        let snapshot = snapshotPath
        let file = try ErrnoTranslation.about(path, "uploaded from \(snapshot)") { () throws(SystemFailure) in
            OpenFile(taking: try SystemCalls.check("open") { open(snapshot, O_RDONLY | O_CLOEXEC) })
        }
        let descriptor = file.descriptor
        var buffer = [UInt8](repeating: 0, count: ContentCopy.chunk)
        var done: Int64 = 0
        while done < length {
            let wanted = Int(min(Int64(buffer.count), length - done))
            let position = off_t(offset + done)
            let count = buffer.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, wanted, position) }
            guard count > 0 else {
                throw ProviderError(.corrupt, "\(path): what is to be sent cannot be read to its end")
            }
            try each(Array(buffer.prefix(count)))
            done += Int64(count)
        }
    }
}
