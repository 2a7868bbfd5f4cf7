import QuireCore

/// What only buckets have of Quire's own, beside `StoreLayout`.
enum S3Layout {
    static let probes: RelativePath = ".quire/probe"

    /// Longest key, in bytes.
    static let longestKey = 1024

    /// A fresh name for what is tried.
    static func probe() -> RelativePath { probes.appending(FolderLayout.stagingName()) }
}
