import Glibc
import QuireCore
import Testing

@testable import QuireStore

@Suite("Compare and swap") struct CompareAndSwapTests {
    /// What is at the path when the change comes.
    enum State: CaseIterable { case absent, file, otherFile, link, directory, fullDirectory }

    /// What the change expects to find there.
    enum Expected: CaseIterable { case absent, file, link, directory }

    enum Operation: CaseIterable { case install, makeDirectory, move, remove, setAttributes }

    enum Answer: Equatable {
        case done, stale, busy
        case failed(Int32)
    }

    struct Case: Sendable, CustomStringConvertible {
        var state: State
        var expected: Expected
        var operation: Operation
        var description: String { "\(operation) expecting \(expected) over \(state)" }
        static let all = State.allCases.flatMap { state in
            Expected.allCases.flatMap { expected in
                Operation.allCases.map { Case(state: state, expected: expected, operation: $0) }
            }
        }

        /// The table.
        var answer: Answer {
            switch (operation, expected) {
            case (.install, .absent), (.makeDirectory, .absent): state == .absent ? .done : .stale
            case (.makeDirectory, _), (.move, .absent), (.remove, .absent), (.setAttributes, .absent): .failed(EINVAL)
            case (.install, .file): state == .file ? .done : .stale
            case (.install, .link): state == .link ? .done : .stale
            case (.install, .directory): .stale
            case (.move, .file), (.remove, .file), (.setAttributes, .file): state == .file ? .done : .stale
            case (.move, .link), (.remove, .link), (.setAttributes, .link): state == .link ? .done : .stale
            case (.remove, .directory): state == .directory ? .done : .stale
            case (.move, .directory), (.setAttributes, .directory):
                state == .directory || state == .fullDirectory ? .done : .stale
            }
        }
    }

    @Test("does what the table says, or nothing", arguments: Case.all)
    func table(_ example: Case) throws {
        let directory = try TemporaryDirectory(in: "/dev/shm")
        let path: RelativePath = "Notes/item"
        try directory.tree.createDirectory("Notes")
        let fingerprints = try arrange(directory, example.state, at: path)
        let before = try directory.tree.status(at: path)
        let staged = try directory.stage("new content")
        let expectation: LocalChange.Expectation =
            switch example.expected {
            case .absent: .absent
            case .file: .fingerprint(fingerprints.file)
            case .link: .fingerprint(fingerprints.link)
            case .directory: .fingerprint(fingerprints.directory)
            }
        let change = LocalChange(path, operation(example.operation, staged), expecting: expectation)
        let log = EventLog()
        let committer = StoreCommitter(tree: directory.tree, sink: log)
        let answer = answer(committer, change)
        #expect(answer == example.answer)
        #expect(log.events.count == (answer == .done ? 1 : 0))
        if answer != .done {
            #expect(try directory.tree.status(at: path) == before)
            #expect(access(staged, F_OK) == 0)
            #expect(try directory.names("Notes") == (before == nil ? [] : ["item"]))
        }
    }

    private func operation(_ operation: Operation, _ staged: String) -> LocalChange.Operation {
        let mtime = FileTime(seconds: 1_600_000_000, nanoseconds: 3)
        return switch operation {
        case .install: .install(stagedPath: staged, dataless: false)
        case .makeDirectory: .makeDirectory(mode: 0o750, mtime: mtime)
        case .move: .move(to: "Notes/moved")
        case .remove: .remove
        case .setAttributes: .setAttributes(mode: 0o700, mtime: mtime)
        }
    }

    /// Makes the state, and fingerprints: of what is there for its own kind, of something else for others.
    private func arrange(_ directory: TemporaryDirectory, _ state: State, at path: RelativePath) throws
        -> (file: Fingerprint, link: Fingerprint, directory: Fingerprint)
    {
        let tree = directory.tree
        let file = try directory.write("elsewhere", to: "file").fingerprint
        try tree.createLink("link", target: [0x78])
        try tree.createDirectory("dir")
        var result = (
            file: file, link: try tree.requiredStatus(at: "link").fingerprint,
            directory: try tree.requiredStatus(at: "dir").fingerprint
        )
        switch state {
        case .absent: break
        case .otherFile: try directory.write("changed meanwhile", to: path)
        case .file: result.file = try directory.write("as expected", to: path).fingerprint
        case .link:
            try tree.createLink(path, target: [0x79])
            result.link = try tree.requiredStatus(at: path).fingerprint
        case .directory, .fullDirectory:
            try tree.createDirectory(path)
            result.directory = try tree.requiredStatus(at: path).fingerprint
            // Its times and size change, and that does not matter.
            if state == .fullDirectory { try directory.write("x", to: path.appending("child" as FileName)) }
        }
        return result
    }

    private func answer(_ committer: StoreCommitter, _ change: LocalChange) -> Answer {
        do throws(LocalChangeError) {
            return switch try committer.commit(change) {
            case .done: .done
            case .stale: .stale
            case .busy: .busy
            }
        } catch {
            return .failed(error.errno)
        }
    }
}

extension LocalChange {
    /// With a base of no interest.
    init(_ path: RelativePath, _ operation: Operation, expecting: Expectation, refuseIfOpen: Bool = false) {
        self.init(path: path, operation, expecting: expecting, base: nil, refuseIfOpen: refuseIfOpen)
    }
}
