public import Foundation
import QuireCore

extension FilePresenter {
    /// None.
    public var observedPresentedItemUbiquityAttributes: Set<URLResourceKey> { [] }

    /// Nothing to let go of.
    public func relinquishPresentedItem(
        toReader reader: @escaping @Sendable (_ reacquirer: (@Sendable () -> Void)?) -> Void
    ) { reader(nil) }

    /// Nothing to let go of.
    public func relinquishPresentedItem(
        toWriter writer: @escaping @Sendable (_ reacquirer: (@Sendable () -> Void)?) -> Void
    ) { writer(nil) }

    /// Runs the asynchronous twin.
    public func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        Self.finish(completionHandler) { try await self.savePresentedItemChanges() }
    }

    /// There never are unsaved changes.
    public func savePresentedItemChanges() async throws {}

    /// Runs the asynchronous twin.
    public func accommodatePresentedItemDeletion(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        Self.finish(completionHandler) { try await self.accommodatePresentedItemDeletion() }
    }

    /// It may go.
    public func accommodatePresentedItemDeletion() async throws {}

    /// Runs the asynchronous twin.
    public func accommodatePresentedSubitemDeletion(
        at url: URL, completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        Self.finish(completionHandler) { try await self.accommodatePresentedSubitemDeletion(at: url) }
    }

    /// It may go.
    public func accommodatePresentedSubitemDeletion(at url: URL) async throws {}

    /// Nothing.
    public func presentedItemDidMove(to newURL: URL) {}

    /// Nothing.
    public func presentedItemDidChange() {}

    /// Nothing.
    public func presentedItemDidChangeUbiquityAttributes(_ attributes: Set<URLResourceKey>) {}

    /// A change of the package, where the directory is one.
    public func presentedSubitemDidAppear(at url: URL) { packageDidChange() }

    /// A change of the package, where the directory is one.
    public func presentedSubitem(at oldURL: URL, didMoveTo newURL: URL) { packageDidChange() }

    /// A change of the package, where the directory is one.
    public func presentedSubitemDidChange(at url: URL) { packageDidChange() }

    /// Nothing.
    public func presentedItemDidGain(_ version: FileVersion) {}

    /// Nothing.
    public func presentedItemDidLose(_ version: FileVersion) {}

    /// Nothing.
    public func presentedItemDidResolveConflict(_ version: FileVersion) {}

    /// Nothing.
    public func presentedSubitem(at url: URL, didGain version: FileVersion) {}

    /// Nothing.
    public func presentedSubitem(at url: URL, didLose version: FileVersion) {}

    /// Nothing.
    public func presentedSubitem(at url: URL, didResolve version: FileVersion) {}

    private func packageDidChange() {
        guard let name = presentedItemURL?.lastPathComponent, let path = RelativePath(parsing: name),
            PackageNames().contains(path)
        else { return }
        presentedItemDidChange()
    }

    /// A callback is the border at which asynchronous work begins.
    private static func finish(
        _ completionHandler: @escaping @Sendable ((any Error)?) -> Void,
        _ body: @escaping @Sendable () async throws -> Void
    ) {
        Task {
            do {
                try await body()
                completionHandler(nil)
            } catch {
                completionHandler(error)
            }
        }
    }
}
