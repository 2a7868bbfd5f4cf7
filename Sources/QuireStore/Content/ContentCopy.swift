import CLinux
import Glibc
package import QuireCore

/// Copies or reads whole files, holes skipped, with the checksum of what was read.
package enum ContentCopy {
    /// How bytes came to the target.
    package enum Method: Sendable, Hashable {
        /// The target shares the source's blocks (FICLONE).
        case cloned
        case copied
    }

    /// What was read.
    package struct Summary: Sendable, Hashable {
        package var size: Int64
        package var checksum: ContentChecksum
        package var method: Method
    }

    /// Fills the empty file `target` with all of `source`: by FICLONE where the filesystem can, else by reading and
    /// writing.
    ///
    /// Both file offsets are left anywhere. Blocks for as long as the disk takes; `isCancelled` is asked once a MiB.
    /// - Throws: `.noSpace`, `.cancelled`, `.failed`; the target is then partly written.
    package static func copy(
        from source: borrowing OwnedDescriptor, to target: borrowing OwnedDescriptor, shown item: String,
        isCancelled: () -> Bool = { false }
    ) throws(StoreError) -> Summary {
        if quire_ficlone(target.rawValue, source.rawValue) == 0 {
            // The clone is read, not the source: it cannot change any more.
            var summary = try read(target.rawValue, writingTo: nil, shown: item, isCancelled: isCancelled)
            summary.method = .cloned
            return summary
        }
        return try read(source.rawValue, writingTo: target.rawValue, shown: item, isCancelled: isCancelled)
    }

    /// The size and checksum of a whole file.
    package static func checksum(
        of source: borrowing OwnedDescriptor, shown item: String, isCancelled: () -> Bool = { false }
    ) throws(StoreError) -> (size: Int64, checksum: ContentChecksum) {
        let summary = try read(source.rawValue, writingTo: nil, shown: item, isCancelled: isCancelled)
        return (summary.size, summary.checksum)
    }

    private static func read(
        _ source: Int32, writingTo target: Int32?, shown item: String, isCancelled: () -> Bool
    ) throws(StoreError) -> Summary {
        let end = Int64(try systemCall("find the end of", item) { lseek(source, 0, SEEK_END) })
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bufferSize, alignment: 4096)
        defer { buffer.deallocate() }
        var hasher = ContentHasher()
        var offset: Int64 = 0
        while offset < end {
            let data = min(try nextData(in: source, from: offset, end: end, item), end)
            while offset < data {
                // In steps, so that a huge hole can be cancelled, too.
                let step = min(data - offset, 64 << 20)
                hasher.update(zeros: step)
                offset += step
                guard !isCancelled() else { throw cancelled(item) }
            }
            let stop = min(try endOfData(in: source, from: offset, end: end, item), end)
            while offset < stop {
                guard !isCancelled() else { throw cancelled(item) }
                let wanted = Int(min(stop - offset, Int64(bufferSize)))
                let count = try systemCall("read", item) { pread(source, buffer.baseAddress, wanted, off_t(offset)) }
                guard count > 0 else { throw StoreError(.changed, "\(item) was cut while it was read") }
                let part = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                hasher.update(part)
                if let target { try write(part, to: target, at: offset, item) }
                offset += Int64(count)
            }
        }
        if let target { try systemCall("set the size of a copy of", item) { ftruncate(target, off_t(end)) } }
        return Summary(size: end, checksum: hasher.finalize(), method: .copied)
    }

    static func write(_ bytes: UnsafeRawBufferPointer, to target: Int32, at offset: Int64, _ item: String)
        throws(StoreError)
    {
        var done = 0
        while done < bytes.count {
            done += try systemCall("write a copy of", item) {
                pwrite(target, bytes.baseAddress.map { $0 + done }, bytes.count - done, off_t(offset) + done)
            }
        }
    }

    /// Where the next data begins; `end` when only a hole is left, `offset` where the filesystem knows no holes.
    private static func nextData(in file: Int32, from offset: Int64, end: Int64, _ item: String) throws(StoreError)
        -> Int64
    {
        let result = lseek(file, off_t(offset), quire_SEEK_DATA)
        if result >= 0 { return Int64(result) }
        switch errno {
        case ENXIO: return end
        case EINVAL: return offset
        case let code: throw StoreError(errno: code, "find the data of", item)
        }
    }

    private static func endOfData(in file: Int32, from offset: Int64, end: Int64, _ item: String) throws(StoreError)
        -> Int64
    {
        guard offset < end else { return end }
        let result = lseek(file, off_t(offset), quire_SEEK_HOLE)
        if result >= 0 { return max(Int64(result), offset) }
        switch errno {
        case ENXIO, EINVAL: return end
        case let code: throw StoreError(errno: code, "find the holes of", item)
        }
    }

    private static func cancelled(_ item: String) -> StoreError {
        StoreError(.cancelled, "reading \(item) was stopped")
    }

    private static let bufferSize = 1 << 20
}
