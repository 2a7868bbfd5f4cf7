import QuireCore

/// Names of what is Quire's own at a folder, and of what lies in its `tmp`.
enum FolderLayout {
    static let control: FileName = ".quire"
    static let store: FileName = "store.json"
    static let lock: FileName = "lock"
    static let temporary: FileName = "tmp"
    /// Pictures of documents, see `ThumbnailStorage`.
    static let thumbnails: FileName = "thumbnails"
    /// Bytes of foreign tools that slipped in and could not be put back; never swept.
    static let kept: FileName = "kept"

    /// A fresh name for what is being written: `put-RANDOM`.
    static func stagingName() -> FileName { FileName(unchecked: Array("put-\(random())".utf8)) }

    /// The name under which a document trades places with what is staged: `swap-INODE-VERSION-RANDOM`.
    ///
    /// It says what the entry may hold after a crash: our own bytes (`INODE`) or the version that was to be displaced,
    /// both of which may go; anything else was somebody's and is kept.
    /// - Parameter staged: the staged file's inode, 0 where nothing was staged.
    static func swapName(staged: UInt64, displacing version: ProviderVersion) -> FileName {
        FileName(unchecked: Array("swap-\(String(staged, radix: 16))-\(version)-\(random())".utf8))
    }

    /// Reads a name that `swapName` made.
    static func parseSwapName(_ name: FileName) -> (staged: UInt64, version: ProviderVersion)? {
        guard let text = name.string else { return nil }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count >= 4, parts[0] == "swap", let inode = UInt64(parts[1], radix: 16) else { return nil }
        return (inode, ProviderVersion(parts[2..<(parts.count - 1)].joined(separator: "-")))
    }

    private static func random() -> String { String(UInt64.random(in: 0 ... .max), radix: 16) }

    /// Refuses paths that are Quire's own, are no paths, or are the root.
    static func validate(_ path: RelativePath) throws(ProviderError) {
        if path.isRoot { throw ProviderError(.invalidName, "the provider's folder itself cannot be changed") }
        try validateReading(path)
    }

    /// As `validate`; the root may be read.
    static func validateReading(_ path: RelativePath) throws(ProviderError) {
        guard !path.isRoot else { return }
        let parts = path.bytes.split(separator: 0x2F, omittingEmptySubsequences: false)
        guard parts.allSatisfy({ FileName($0) != nil }) else {
            throw ProviderError(.invalidName, "\(path) is not a path")
        }
        if parts[0].elementsEqual(control.bytes) {
            throw ProviderError(.invalidName, "\(path) is reserved: .quire holds Quire's own files at the provider")
        }
    }
}
