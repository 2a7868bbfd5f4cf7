/// Where a container's documents are kept beyond this device. The contract between the sync engine and every provider.
///
/// **Truth.** Documents are plain files at the same relative paths; all that is Quire's own lies under `.quire/` at the
/// root, is never listed, and paths into it are refused with `.invalidName`.
///
/// **Conditions.** Every write names what must hold (`Precondition`). When it does not, the call throws
/// `.conditionFailed` and has changed nothing. Where `capabilities.conditionalWrites` is `.atomic` no interleaving with
/// any other writer loses bytes.
///
/// **Whole or not at all.** A reader at the provider sees the old content or the new, never a part (design, rule 7).
///
/// **Idempotence and retry.** A call that throws a retryable error may have happened; callers look (`item(at:)`) and
/// compare before they repeat it. Repeating `delete` of what is gone throws `.notFound`, `createDirectory` of what is
/// there throws `.conditionFailed`.
///
/// **Missing store.** When the storage is not there, or is not the one it was, every call throws `.unavailable`; a
/// provider never answers an empty listing for that reason.
///
/// **Where it runs.** All methods may be called concurrently from any task. None blocks a thread of the cooperative
/// pool: blocking system calls go to threads or queues of the provider's own. Cancelling the task ends the call soon with
/// `.cancelled`; what was staged is removed.
public protocol DocumentProvider: Sendable {
    /// What it can do; constant once `connect` has returned.
    var capabilities: ProviderCapabilities { get }

    /// Finds the storage, makes it ready on first use, and returns its identity, the same from every device and for ever.
    ///
    /// - Parameter expected: the identity found earlier; nil on first use, when an empty storage is given one.
    /// - Throws: `.unavailable` when the storage is missing or is another than `expected`; `.permissionDenied`.
    func connect(expected: String?) async throws(ProviderError) -> String

    /// What `connect` has decided about the storage and may decide otherwise another time, though all that is known of it would be
    /// other then. Nil where there is nothing. Whoever keeps what is known keeps that, too.
    var decision: String? { get }

    /// Takes up such a decision, before `connect`.
    func recall(_ decision: String)

    /// Everything that changed since `cursor`; with nil, everything. May always answer `.everything`.
    ///
    /// A listing that could not be read to its end throws; it is never cut short silently. A part that the provider may not
    /// read, or that makes no sense, keeps nothing else from being told: it is told as `RemoteItem.unseen`.
    func changes(since cursor: ChangeCursor?) async throws(ProviderError) -> RemoteChanges

    /// Where to go on from, if the storage is as it was before `cursor`: it was set back, as from a backup. What is missing there
    /// then was deleted by nobody, and what is other there is older. Nil where that is not so, or cannot be told.
    ///
    /// Asked after a listing of everything.
    /// - Parameter next: with which that came.
    func setBack(before cursor: ChangeCursor, next: ChangeCursor) async throws(ProviderError) -> ChangeCursor?

    /// Tells other devices where this one has changed something, so that they need not list everything to find out; where
    /// `capabilities.announcements`.
    ///
    /// Nothing but the others' speed depends on it, and where listings have no attributes, what they show of these.
    /// - Parameter changes: nil: the others are to look at everything.
    func announce(_ changes: [AnnouncedChange]?) async throws(ProviderError)

    /// The item at `path`, nil when nothing is there.
    func item(at path: RelativePath) async throws(ProviderError) -> RemoteItem?

    /// Writes the content of `path` at `version` into a file that this call creates at `destination`, whole.
    ///
    /// - Parameters:
    ///   - version: the present one, or one of `earlierVersions`.
    ///   - destination: absolute path where nothing is yet; on error nothing is left there. It is not fsynced here.
    ///   - progress: called with the bytes that have arrived so far, from any thread.
    /// - Returns: the item, with `checksum` set to the SHA-256 of what was written.
    /// - Throws: `.notFound`; `.conditionFailed` when the provider has another version, also when it changed half way.
    func fetch(
        _ path: RelativePath, version: ProviderVersion, to destination: String,
        progress: @escaping @Sendable (ByteCount) -> Void
    ) async throws(ProviderError) -> RemoteItem

    /// Writes a part of the content of `path` at `version` into the file at `destination`, at the same offsets and in order;
    /// the rest of that file stays as it is.
    ///
    /// - Parameters:
    ///   - range: in bytes; not empty and within the document.
    ///   - destination: absolute path of a file that is there. It is not fsynced here.
    ///   - progress: called whenever bytes arrive, with how much of the range is certainly of `version`, from any thread.
    /// - Returns: the item as far as the answer tells it, version and size for certain; without a checksum.
    /// - Throws: as `fetch`; what was written of the range then is worthless beyond the last `progress`. `.unsupported` where
    ///   only whole documents can be had, which is the default.
    func fetch(
        _ path: RelativePath, version: ProviderVersion, range: Range<Int64>, into destination: String,
        progress: @escaping @Sendable (ByteCount) -> Void
    ) async throws(ProviderError) -> RemoteItem

    /// Creates or replaces the document at `path`. Its parent directory must be there.
    ///
    /// - Returns: the item as it then is: of another size, and without a checksum, where it is certain that the storage itself has
    ///   made something else of what was sent.
    /// - Throws: `.conditionFailed`; `.parentMissing`; `.noSpace`; `.invalidName` for a name it cannot hold.
    func put(
        _ path: RelativePath, content: UploadContent, attributes: RemoteAttributes, expecting: Precondition
    ) async throws(ProviderError) -> RemoteItem

    /// Creates a symlink, or replaces one of the expected version. `.unsupported` where `capabilities.symlinks` is false.
    func putSymlink(
        _ path: RelativePath, target: [UInt8], mtime: FileTime, expecting: Precondition
    ) async throws(ProviderError) -> RemoteItem

    /// Creates a directory; `.conditionFailed` when anything is at `path`.
    func createDirectory(_ path: RelativePath, attributes: RemoteAttributes) async throws(ProviderError) -> RemoteItem

    /// Sets mtime and mode without touching content. `.conditionFailed` when the version is another.
    func setAttributes(
        _ path: RelativePath, _ attributes: RemoteAttributes, expecting version: ProviderVersion
    ) async throws(ProviderError) -> RemoteItem

    /// Moves an item (a directory with all below it where `capabilities.directoryMoves`). Nothing may be at `destination`.
    ///
    /// - Parameter version: what the source must have; for a directory nil means: whatever it has.
    /// - Returns: the item at its new path; `identifier` is kept where identifiers are stable.
    func move(
        _ path: RelativePath, to destination: RelativePath, expecting version: ProviderVersion?
    ) async throws(ProviderError) -> RemoteItem

    /// Deletes a file or symlink of the expected version, or an empty directory (`version` nil).
    ///
    /// - Throws: `.notFound`; `.conditionFailed`; `.notEmpty`.
    func delete(_ path: RelativePath, expecting version: ProviderVersion?) async throws(ProviderError)

    /// The versions of the document at `path` that it had before the present one and that are still kept, newest first.
    /// Their content can be fetched whole.
    ///
    /// - Throws: `.unsupported` where `capabilities.earlierVersions` is false, which is the default; `.notFound`.
    func earlierVersions(of path: RelativePath) async throws(ProviderError) -> [RemoteItem]

    /// Room left, nil where unknown.
    func freeSpace() async throws(ProviderError) -> ByteCount?
}

extension DocumentProvider {
    /// None.
    public var decision: String? { nil }

    /// There is none.
    public func recall(_ decision: String) {}

    /// Cannot be told.
    public func setBack(before cursor: ChangeCursor, next: ChangeCursor) async throws(ProviderError) -> ChangeCursor? {
        nil
    }

    /// Others find out by themselves.
    public func announce(_ changes: [AnnouncedChange]?) async throws(ProviderError) {}

    /// Documents come whole.
    public func fetch(
        _ path: RelativePath, version: ProviderVersion, range: Range<Int64>, into destination: String,
        progress: @escaping @Sendable (ByteCount) -> Void
    ) async throws(ProviderError) -> RemoteItem {
        throw ProviderError(.unsupported, "\(path): this provider hands out whole documents only")
    }

    /// None are kept.
    public func earlierVersions(of path: RelativePath) async throws(ProviderError) -> [RemoteItem] {
        throw ProviderError(.unsupported, "\(path): this provider keeps no earlier versions")
    }
}
