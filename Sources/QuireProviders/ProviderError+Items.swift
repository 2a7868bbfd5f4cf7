import QuireCore

/// What every provider says of an item.
extension ProviderError {
    static func notFound(_ path: RelativePath) -> ProviderError {
        ProviderError(.notFound, "\(path) is not at the provider")
    }

    static func refused(_ path: RelativePath) -> ProviderError {
        ProviderError(.conditionFailed, "\(path) is not at the provider in the version that was expected")
    }

    static func cut(_ path: RelativePath) -> ProviderError {
        ProviderError(.unavailable, "\(path): less arrived than was asked for")
    }

    static func parentMissing(_ path: RelativePath) -> ProviderError {
        ProviderError(.parentMissing, "\(path) cannot be written: its directory is not at the provider")
    }
}
