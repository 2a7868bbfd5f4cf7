import QuireCore

/// How the kernel reads and writes an open file: all handles of one inode alike.
enum DataPath: Equatable {
    /// No handle is open.
    case undecided
    /// Through the page cache and this process.
    case cached
    /// In the kernel, through this backing id.
    case passthrough(CInt)

    var isPassthrough: Bool { if case .passthrough = self { true } else { false } }
}

/// What a node has only while it is open, has several names or none, or is or was dataless.
///
/// All variable properties are guarded as those of `Node`.
final class NodeDetails: @unchecked Sendable {
    // Guarded by NodeTable.state.

    /// Names besides the latest, in the order in which they were met, the latest first.
    var otherNames: [Entry] = []
    /// Open handles, in no particular order.
    private(set) var files: [OpenFile] = []
    /// How many of them may write.
    var writers = 0
    var dataPath = DataPath.undecided
    /// A handle that wrote could map the file, since the first of those that are open was opened.
    var mayBeMapped = false
    /// The fingerprint that the last event about the open file carried.
    var reported: Fingerprint?
    /// When the open file was truncated; see `Driver.noteTruncation`.
    var truncationTime: FileTime?
    /// For a file without a name that the kernel still holds.
    var orphan: Descriptor?
    /// What programs are told instead of `inode`; nil: that. A file that was dataless when the kernel first met it keeps its
    /// number when the content arrives in another inode: `cp` refuses a file whose number changes under it. Never a number
    /// that the store uses, so no two files look like one.
    var shownInode: UInt64?

    /// A name that it has no more, and that the kernel did not take from it: who opens it may mean what is there now. Nil once the
    /// kernel was given it under another.
    var former: Entry?

    func enter(_ file: OpenFile) {
        file.position = files.count
        files.append(file)
    }

    /// The last handle takes the place of `file`: as quick for twenty thousand as for one.
    func leave(_ file: OpenFile) {
        let position = file.position
        guard position < files.count, files[position] === file, let last = files.popLast(), last !== file else {
            return
        }
        last.position = position
        files[position] = last
    }

    var isEmpty: Bool {
        otherNames.isEmpty && files.isEmpty && orphan == nil && shownInode == nil && former == nil
    }
}

extension Node {
    /// Open handles.
    var files: [OpenFile] { details?.files ?? [] }
    var isOpen: Bool { details.map { !$0.files.isEmpty } ?? false }
    var writers: Int { details?.writers ?? 0 }
    /// How programs that opened it dataless read it.
    var arrival: Arrival? { details?.files.first?.arrival }
    var dataPath: DataPath { details?.dataPath ?? .undecided }
    /// `NodeDetails.shownInode`.
    var shownInode: UInt64? { details?.shownInode }
    var orphan: Descriptor? { details?.orphan }
    /// Whether the kernel may find it under a name that it has no more.
    var wasTakenAway: Bool { details?.former != nil }

    /// It has another name than the kernel knows.
    func takeAway(from entry: Entry) { makeDetails().former = entry }

    /// The kernel is given it at `entry`: by its former name, that may be an answer from before.
    func isMet(at entry: Entry) { if details?.former != entry { isKnownWhereItIs() } }

    /// The kernel has it under the name that it has.
    func isKnownWhereItIs() {
        guard let details, details.former != nil else { return }
        details.former = nil
        dropDetails()
    }
}
