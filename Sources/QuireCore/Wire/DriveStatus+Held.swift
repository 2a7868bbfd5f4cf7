extension DriveStatus {
    /// Deletions of much at once that are not believed until `quire sync --confirm-deletes`.
    package struct Held: Codable, Sendable, Hashable {
        /// Where documents are missing.
        package enum Side: String, Codable, Sendable {
            /// At the provider: they stay on this device.
            case provider
            /// On this device: they stay at the provider.
            case device
        }

        package var side: Side
        /// The provider's name.
        package var provider: String
        package var count: Int
        /// Where the first of them are, or were, on the drive; `mostPaths` at most.
        package var paths: [WirePath]

        package static let mostPaths = 10

        package init(side: Side, provider: String, count: Int, paths: [WirePath]) {
            self.side = side
            self.provider = provider
            self.count = count
            self.paths = paths
        }
    }
}
