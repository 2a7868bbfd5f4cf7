package import QuireCore

/// Points at which a test plays the foreign tool that slips in.
package struct FolderHooks: Sendable {
    /// With the lock held, after the comparison and before the swap, move or removal.
    package var beforeSwap: (@Sendable (RelativePath) -> Void)?
    /// After a swap that displaced the wrong bytes, before they are put back.
    package var beforeUndo: (@Sendable (RelativePath) -> Void)?
    /// Between two chunks of a fetch.
    package var duringFetch: (@Sendable (RelativePath) -> Void)?

    /// After a listing has read a directory.
    package var afterDirectory: (@Sendable (RelativePath) -> Void)?

    /// After the filesystem was tried: what it is to be taken for.
    var afterProbe: (@Sendable (inout FolderProbe) -> Void)?

    package init(
        beforeSwap: (@Sendable (RelativePath) -> Void)? = nil, beforeUndo: (@Sendable (RelativePath) -> Void)? = nil,
        duringFetch: (@Sendable (RelativePath) -> Void)? = nil,
        afterDirectory: (@Sendable (RelativePath) -> Void)? = nil
    ) {
        self.beforeSwap = beforeSwap
        self.beforeUndo = beforeUndo
        self.duringFetch = duringFetch
        self.afterDirectory = afterDirectory
    }
}
