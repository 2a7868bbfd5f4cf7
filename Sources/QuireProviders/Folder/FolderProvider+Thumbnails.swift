import Glibc
package import QuireCore

/// Thumbnails lie in `.quire/thumbnails/NAME.png`.
extension FolderProvider: ThumbnailStorage {
    package func putThumbnail(_ name: String, _ picture: [UInt8]) async throws(ProviderError) {
        try Self.checkThumbnailName(name)
        try await perform { (session, _) throws(ProviderError) in
            let directory = try FolderSession.subdirectory(FolderLayout.thumbnails, of: session.control)
            let (tmp, target) = (session.temporary.descriptor, directory.descriptor)
            let staged = FolderLayout.stagingName()
            let path = Self.path(name)
            try ErrnoTranslation.about(path, "written") { () throws(SystemFailure) in
                let file = try SystemCalls.open(at: tmp, staged, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
                do throws(SystemFailure) {
                    try ContentCopy.write(picture, to: file.descriptor)
                    try SystemCalls.rename((tmp, staged), to: (target, Self.fileName(name)))
                } catch {
                    try? SystemCalls.unlink(at: tmp, staged)
                    throw error
                }
            }
        }
    }

    package func thumbnail(_ name: String) async throws(ProviderError) -> [UInt8]? {
        try Self.checkThumbnailName(name)
        return try await perform { (session, _) throws(ProviderError) in
            let directory = try FolderSession.subdirectory(FolderLayout.thumbnails, of: session.control)
            let descriptor = directory.descriptor
            let path = Self.path(name)
            let bytes = try ErrnoTranslation.about(path, "read") { () throws(SystemFailure) -> [UInt8]? in
                guard try SystemCalls.status(at: descriptor, Self.fileName(name)) != nil else { return nil }
                let file = try SystemCalls.open(at: descriptor, Self.fileName(name), O_RDONLY | O_NONBLOCK)
                let facts = try SystemCalls.status(of: file.descriptor)
                guard facts.kind == .file, facts.size <= Int64(Self.largestThumbnail) else { return [] }
                return try Self.bytes(of: file.descriptor, count: Int(facts.size))
            }
            if bytes?.isEmpty ?? false { throw ProviderError(.corrupt, "\(path) is no thumbnail") }
            return bytes
        }
    }

    package func thumbnails(since cursor: String?) async throws(ProviderError) -> ThumbnailListing? {
        try await perform { (session, cancellation) throws(ProviderError) in
            let directory = try FolderSession.subdirectory(FolderLayout.thumbnails, of: session.control)
            let descriptor = directory.descriptor
            let path = FolderSession.controlPath(FolderLayout.thumbnails)
            // Read first: what comes while the names are read is told the next time.
            let begun = FolderClock.Moment.now()
            let facts = try Self.facts(of: directory, path)
            let next = "\(facts.inode)-\(facts.mtime.nanoseconds)"
            if next == cursor, !self.isRacy(facts.mtime, since: begun, session) { return nil }
            var entries: [ThumbnailListing.Entry] = []
            try ErrnoTranslation.about(path, "listed") { () throws(SystemFailure) in
                try DirectoryNames.forEach(in: descriptor) { text in
                    let bytes = Array(DirectoryNames.bytes(of: text))
                    guard bytes.count > 4, bytes.suffix(4).elementsEqual(".png".utf8),
                        let found = try? SystemCalls.status(at: descriptor, FileName(unchecked: bytes)),
                        found.kind == .file
                    else { return }
                    entries.append(
                        .init(
                            name: String(decoding: bytes.dropLast(4), as: UTF8.self), size: ByteCount(found.size),
                            stored: found.mtime))
                }
            }
            try cancellation.check()
            return ThumbnailListing(entries: entries, cursor: next)
        }
    }

    package func removeThumbnail(_ name: String) async throws(ProviderError) {
        try Self.checkThumbnailName(name)
        try await perform { (session, _) throws(ProviderError) in
            let directory = try FolderSession.subdirectory(FolderLayout.thumbnails, of: session.control)
            let descriptor = directory.descriptor
            do throws(SystemFailure) {
                try SystemCalls.unlink(at: descriptor, Self.fileName(name))
            } catch {
                if error.code != ENOENT { throw ErrnoTranslation.error(error, Self.path(name), "removed") }
            }
        }
    }

    private static func fileName(_ name: String) -> FileName { FileName(unchecked: Array("\(name).png".utf8)) }

    private static func path(_ name: String) -> RelativePath {
        FolderSession.controlPath(FolderLayout.thumbnails).appending(fileName(name))
    }

    private static func bytes(of file: Int32, count: Int) throws(SystemFailure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let got = try bytes.withUnsafeMutableBufferPointer { (buffer) throws(SystemFailure) in
            // A file of at most 8 MiB comes whole, unless it was cut meanwhile.
            try SystemCalls.check("read") { Int32(Glibc.read(file, buffer.baseAddress, buffer.count)) }
        }
        return Array(bytes.prefix(Int(got)))
    }
}
