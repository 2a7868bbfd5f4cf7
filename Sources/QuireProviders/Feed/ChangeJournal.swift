import QuireCore

/// A store's own account of what changed in it, whoever changed it.
///
/// Callable from any task. A listing goes with a cursor of the moment before it began, so that nothing falls in between.
protocol ChangeJournal: Sendable {
    /// Whether it tells of attributes as well; where not, devices tell each other of those.
    var tellsAttributes: Bool { get }

    /// Everything, and where the journal stood before; nil where it cannot say so now.
    func list() async throws(ProviderError) -> (items: [RemoteItem], cursor: ChangeCursor?)

    /// What changed since then; nil where only a listing of everything tells.
    ///
    /// - Throws: for an answer that is not whole; nothing is ever taken for unchanged then.
    func news(since cursor: ChangeCursor) async throws(ProviderError) -> JournalNews?
}

/// What a journal tells.
struct JournalNews: Sendable {
    /// Records of devices that may have come (`ChangeFeed`).
    enum Records: Sendable, Hashable {
        case none
        /// Up to that number; what they name was changed before the journal told.
        case through(Int)
        /// As many as there are.
        case unknown
    }

    /// What is new or may have changed, as it is now.
    var items: [RemoteItem]
    /// As in `RemoteChanges.changes`.
    var removed: [RelativePath]
    var next: ChangeCursor
    var records: Records
}
