public import Foundation

/// Whoever shows an item to a person, or keeps its content in memory, and so has to know what others do to it
/// (NSFilePresenter).
///
/// Register it with `FileCoordinator.addFilePresenter(_:)`. From then on it is asked before apps and programs on the mount
/// read or write its item, and told afterwards. All callbacks run on `presentedItemOperationQueue`, one after the other;
/// the two properties are asked on any thread. Every callback has a default: nothing to say, nothing to do.
///
/// Before an access:  relinquish, then save or accommodate, one question at a time, each with a deadline of 5 s (2 s while
/// a program waits). After it: did-move or did-change, then the reacquirer.
///
/// Methods with a completion handler have an asynchronous twin; implement either. In answer to a question, coordinate only
/// with a coordinator made with this presenter: that goes ahead of whoever asked.
public protocol FilePresenter: AnyObject, Sendable {
    /// The item; nil while it is not created. Asked again after each access by a coordinator made with this presenter;
    /// on no drive then, nothing is presented.
    var presentedItemURL: URL? { get }
    /// Where callbacks run.
    var presentedItemOperationQueue: OperationQueue { get }
    /// The ubiquity attributes whose changes it wants to hear of. Asked at registration.
    var observedPresentedItemUbiquityAttributes: Set<URLResourceKey> { get }

    /// Others are about to read the item.
    ///
    /// - Parameter reader: to be called once, as soon as the presenter has stopped using the item, with what is to run on
    ///   its queue when the access has ended. Dropped without being called, it counts as called with nil.
    func relinquishPresentedItem(toReader reader: @escaping @Sendable (_ reacquirer: (@Sendable () -> Void)?) -> Void)
    /// Somebody is about to write the item. As of `relinquishPresentedItem(toReader:)`.
    func relinquishPresentedItem(toWriter writer: @escaping @Sendable (_ reacquirer: (@Sendable () -> Void)?) -> Void)

    /// Others are about to read the item: save what is not saved.
    ///
    /// - Parameter completionHandler: to be called once, with an error where it could not be saved: then an app's access
    ///   fails with it, and a program reads what is saved.
    func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void)
    /// The asynchronous twin of `savePresentedItemChanges(completionHandler:)`.
    func savePresentedItemChanges() async throws

    /// The item is about to be deleted or replaced: let go of it. An error keeps an app, but no program, from it.
    func accommodatePresentedItemDeletion(completionHandler: @escaping @Sendable ((any Error)?) -> Void)
    /// The asynchronous twin of `accommodatePresentedItemDeletion(completionHandler:)`.
    func accommodatePresentedItemDeletion() async throws

    /// The same of an item inside the presented package.
    func accommodatePresentedSubitemDeletion(
        at url: URL, completionHandler: @escaping @Sendable ((any Error)?) -> Void)
    /// The asynchronous twin of `accommodatePresentedSubitemDeletion(at:completionHandler:)`.
    func accommodatePresentedSubitemDeletion(at url: URL) async throws

    /// The item is elsewhere now: `presentedItemURL` is to say so from now on.
    func presentedItemDidMove(to newURL: URL)
    /// Content or attributes of the file or package changed, or may have while the daemon was gone: compare the
    /// modification time in a coordinated read.
    func presentedItemDidChange()
    /// Some of the observed attributes changed.
    func presentedItemDidChangeUbiquityAttributes(_ attributes: Set<URLResourceKey>)

    /// There is an item in the presented directory where none was. By default a change of the package, where the
    /// directory is one; so are the two below.
    func presentedSubitemDidAppear(at url: URL)
    /// An item in the presented directory is elsewhere now.
    func presentedSubitem(at oldURL: URL, didMoveTo newURL: URL)
    /// An item in the presented directory changed, or is gone.
    func presentedSubitemDidChange(at url: URL)

    /// The item has one version more: a conflict copy, made here or by another device.
    func presentedItemDidGain(_ version: FileVersion)
    /// A version of the item is gone for good.
    func presentedItemDidLose(_ version: FileVersion)
    /// The conflict with a version of the item is over.
    func presentedItemDidResolveConflict(_ version: FileVersion)

    /// The three above of an item in the presented directory.
    func presentedSubitem(at url: URL, didGain version: FileVersion)
    /// As `presentedItemDidLose(_:)`, of an item in the presented directory.
    func presentedSubitem(at url: URL, didLose version: FileVersion)
    /// As `presentedItemDidResolveConflict(_:)`, of an item in the presented directory.
    func presentedSubitem(at url: URL, didResolve version: FileVersion)
}
