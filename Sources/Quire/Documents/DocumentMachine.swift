/// Decides what a document does: events in, actions out. Touches nothing itself; its owner performs the actions and tells
/// what came of them.
///
///     closed ──open──▶ opening ──opened──▶ open ──close──▶ closed
///        ▲                │ failed                │ deleted
///        └────────────────┴───────────────────────┘
struct DocumentMachine: Sendable {
    enum Phase: Sendable { case closed, opening, open }

    /// What is to be done about content that others wrote.
    enum Reaction: Sendable, Equatable {
        /// It is what the document has already.
        case nothing
        /// Read it: nothing is lost by that.
        case reload
        /// There are unsaved edits: both are kept. The next save puts what is there beside the document first.
        case keepBoth
    }

    /// What a save has to do.
    struct SavePlan: Sendable, Equatable {
        /// Edits that the save covers; later ones stay unsaved.
        let token: DocumentChangeToken
        /// The content that is there is not what the edits were made to: it is kept beside the document first.
        let keepsOther: Bool
    }

    /// More than anybody undoes.
    private static let outOfReach = 1 << 40

    private(set) var phase = Phase.closed
    private var changeCount = 0
    /// Edits were made in the place of undone ones, or counting began anew, so many times: what was there cannot be had again.
    private var branch = 0
    /// Edits that can be made again.
    private var undone = 0
    private var writers = 0
    private var conflicts = 0
    private var savingFailed = false
    private var isDownloading = false
    private var otherContentIsThere = false
    private var known: ContentStamp?

    // MARK: What is so

    /// Whether there are edits that no save covered.
    var hasUnsavedChanges: Bool { changeCount != 0 }

    /// Whether somebody else is writing.
    var isEditingDisabled: Bool { writers > 0 }

    /// The bits.
    var state: DocumentState {
        var state: DocumentState = phase == .open ? [] : .closed
        if conflicts > 0 || otherContentIsThere { state.insert(.inConflict) }
        if savingFailed { state.insert(.savingError) }
        if writers > 0 { state.insert(.editingDisabled) }
        if isDownloading { state.insert(.progressAvailable) }
        return state
    }

    /// What a save that begins now covers.
    var changeCountToken: DocumentChangeToken { DocumentChangeToken(count: changeCount, branch: branch) }

    // MARK: Opening and closing

    /// - Returns: whether it may be opened; it is open, or opens, already where not.
    mutating func beginOpening() -> Bool {
        guard phase == .closed else { return false }
        reset()
        phase = .opening
        return true
    }

    /// Content is brought here, or that is over.
    mutating func downloading(_ isDownloading: Bool) { self.isDownloading = isDownloading }

    /// The content of `stamp` was read or, where the document is made, written.
    mutating func opened(_ stamp: ContentStamp?) {
        guard phase == .opening else { return }
        phase = .open
        isDownloading = false
        known = stamp
    }

    /// Opening failed, the document was closed, or its file was deleted.
    mutating func closed() { reset() }

    /// What a token of before covers is not what is counted from here on.
    private mutating func reset() {
        let next = branch + 1
        self = DocumentMachine()
        branch = next
    }

    // MARK: Editing and saving

    /// Counts an edit.
    mutating func edited(_ kind: DocumentChangeKind) {
        switch kind {
        case .done:
            if undone > 0 { branch += 1 }
            undone = 0
            // What was saved was undone, and cannot be had again by undoing: it is unsaved until it is saved.
            changeCount = changeCount < 0 ? Self.outOfReach : changeCount + 1
        case .undone:
            undone += 1
            changeCount -= 1
        case .redone:
            undone = max(0, undone - 1)
            changeCount += 1
        case .cleared:
            branch += 1
            (undone, changeCount) = (0, 0)
        }
    }

    /// Counts as saved what was done until `token` was taken.
    ///
    /// Where something of it was undone since and something else was done, or counting began anew, it may be out of reach: all
    /// is unsaved then until the next save.
    mutating func edited(covering token: DocumentChangeToken) {
        changeCount = token.branch == branch ? changeCount - token.count : Self.outOfReach
    }

    /// What a save that begins now has to do, where `there` is the content that it would replace.
    func planSave(token: DocumentChangeToken, over there: ContentStamp?) -> SavePlan {
        let isOther = if let there, let known { !there.matches(known) } else { false }
        return SavePlan(token: token, keepsOther: isOther && phase == .open)
    }

    /// A save is done: edits made meanwhile stay unsaved.
    mutating func saved(token: DocumentChangeToken, _ stamp: ContentStamp?) {
        edited(covering: token)
        savingFailed = false
        otherContentIsThere = false
        known = stamp
    }

    /// A save failed: all stays unsaved.
    ///
    /// - Parameter written: by what the content is known that is there all the same; nil where it was not replaced.
    mutating func saveFailed(written: ContentStamp? = nil) {
        savingFailed = true
        guard let written else { return }
        known = written
        otherContentIsThere = false
    }

    // MARK: What others do

    /// The item may have changed; `there` was taken in a coordinated read.
    mutating func changed(_ there: ContentStamp?) -> Reaction {
        guard phase == .open, let there else { return .nothing }
        guard let known else { return hasUnsavedChanges ? .keepBoth : .reload }
        if there.matches(known) { return known.isRacy && !hasUnsavedChanges ? .reload : .nothing }
        guard hasUnsavedChanges else { return .reload }
        otherContentIsThere = true
        return .keepBoth
    }

    /// The content that is there was read: nothing is unsaved.
    mutating func reloaded(_ stamp: ContentStamp?) {
        known = stamp
        branch += 1
        (undone, changeCount) = (0, 0)
        otherContentIsThere = false
        savingFailed = false
    }

    /// Somebody is about to write.
    mutating func relinquishedToWriter() { writers += 1 }

    /// A writer is done.
    mutating func reacquired() { writers = max(0, writers - 1) }

    /// So many versions are in conflict with the document.
    mutating func foundConflicts(_ count: Int) { conflicts = count }
}
