package import QuireCore

/// A damaged file was set aside while the index was open, and a new one is filled from the store.
package struct IndexRebuild: Sendable, Hashable {
    /// 1 for the first since the index was opened.
    package let number: Int
    /// The new path of the damaged file.
    package let setAside: String
    package let since: FileTime
}
