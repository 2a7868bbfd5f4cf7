import QuireCore

/// The names that a `MemoryProvider` of given abilities holds.
enum MemoryNames {
    static func validate(_ path: RelativePath, _ capabilities: ProviderCapabilities) throws(ProviderError) {
        try FolderLayout.validate(path)
        try checkNames(path, capabilities)
    }

    static func validateReading(_ path: RelativePath, _ capabilities: ProviderCapabilities) throws(ProviderError) {
        try FolderLayout.validateReading(path)
        try checkNames(path, capabilities)
    }

    private static func checkNames(_ path: RelativePath, _ capabilities: ProviderCapabilities) throws(ProviderError) {
        for name in path.components {
            if name.bytes.count > capabilities.longestName {
                throw ProviderError(
                    .invalidName,
                    "\(path): a name is longer than the \(capabilities.longestName) bytes this provider holds")
            }
            if !capabilities.arbitraryNames, name.string == nil {
                throw ProviderError(.invalidName, "\(path): this provider holds only names in UTF-8; rename it")
            }
        }
    }
}
