import Dispatch
import QuireCore
import QuireStore
import Synchronization

/// A call on names that reaches the driver from the kernel.
enum NameCall {
    case rename(Entry, Entry)
    case remove(Entry, isDirectory: Bool)
    case makeDirectory(Entry)
}

/// One change of the sync engine's that is to be made while the kernel serves a call of the driver's own; or not at all, and
/// then in another way. Never both:
///
///     engine:  speak ───────────────────────────────▶ end: made, or void from now on
///     kernel:              LOOKUP of the token ── RENAME: claim ── finish
///
/// A call that comes when the change is void does nothing.
final class SpokenChange: Sendable {
    /// A directory by its inode, and a name in it.
    struct Place: Equatable, Sendable {
        let directory: UInt64
        let name: FileName
    }

    /// What the kernel was shown in place of the change: a node under the token.
    struct StagedNode: Sendable {
        let node: Node
        let entry: Entry
    }

    private enum Phase { case waiting, claimed, over }

    private struct State {
        var phase = Phase.waiting
        var made: Result<MadeChange, LocalChangeError>?
        /// The staged file under the token, once the kernel has asked for it.
        var staged: StagedNode?
    }

    let change: LocalChange
    let place: Place
    /// Of a move.
    let destination: Place?
    /// The name by which the kernel is shown what is staged.
    let token: FileName
    // Taken alone.
    private let state = Lock(State())
    private let finished = DispatchSemaphore(value: 0)

    init(_ change: LocalChange, at place: Place, to destination: Place?, token: FileName) {
        self.change = change
        self.place = place
        self.destination = destination
        self.token = token
    }

    /// What is to be called for; nil for a change that no call makes.
    var call: VoiceCall? {
        guard let directory = change.path.parent else { return nil }
        switch change.operation {
        case .install: return .rename(directory, token, to: directory, place.name)
        case .makeDirectory: return .makeDirectory(directory, place.name)
        case .move(let path):
            guard let target = path.parent, let destination else { return nil }
            return .rename(directory, place.name, to: target, destination.name)
        case .remove:
            guard case .fingerprint(let expected) = change.expecting else { return nil }
            return .remove(directory, place.name, isDirectory: expected.kind == .directory)
        case .setAttributes: return nil
        }
    }

    /// Whether it is what the kernel asks for.
    ///
    /// - Parameter inode: of a directory's node.
    func isMeant(by call: NameCall, _ inode: (Node) -> UInt64) -> Bool {
        func place(_ entry: Entry) -> Place { Place(directory: inode(entry.directory), name: entry.name) }
        switch (call, self.call) {
        case (.rename(let source, let target), .rename(_, let name, _, _)):
            return place(source) == Place(directory: self.place.directory, name: name)
                && place(target) == (destination ?? self.place)
        case (.remove(let entry, let isDirectory), .remove(_, _, let expected)):
            return place(entry) == self.place && isDirectory == expected
        case (.makeDirectory(let entry), .makeDirectory): return place(entry) == self.place
        default: return false
        }
    }

    /// The kernel is about to be shown the staged file. False where the change is void already.
    func show(_ staged: StagedNode) -> Bool {
        state.withLock { state in
            guard state.phase == .waiting else { return false }
            state.staged = staged
            return true
        }
    }

    /// Whoever gets true makes the change, and calls `finish`.
    func claim() -> Bool {
        state.withLock { state in
            guard state.phase == .waiting else { return false }
            state.phase = .claimed
            return true
        }
    }

    /// - Parameter made: nil where it was not made, and is to be made in another way.
    func finish(_ made: Result<MadeChange, LocalChangeError>?) {
        state.withLock { state in
            state.phase = .over
            state.made = made
        }
        finished.signal()
    }

    /// From now on nobody makes it who has not begun to.
    ///
    /// Waits for who has: a few system calls on the store.
    /// - Returns: what was made, nil where nothing was; and what the kernel was shown.
    func end() -> (made: Result<MadeChange, LocalChangeError>?, staged: StagedNode?) {
        let isBeingMade = state.withLock { state in
            defer { if state.phase == .waiting { state.phase = .over } }
            return state.phase == .claimed
        }
        if isBeingMade { finished.wait() }
        return state.withLock { ($0.made, $0.staged) }
    }
}
