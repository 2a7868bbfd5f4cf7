import Glibc
import QuireCore
import Testing

@testable import QuireStore

@Suite("What a committed change does and says") struct CompareAndSwapEffectTests {
    let directory: TemporaryDirectory
    var tree: DriveTree { directory.tree }
    let base = BaseRecord(
        container: .default, path: "Notes/a", kind: .file, version: ProviderVersion("v1"), size: 3,
        mtime: FileTime(nanoseconds: 1), mode: nil, identifier: nil, checksum: nil, symlinkTarget: nil)

    init() throws {
        directory = try TemporaryDirectory()
        try tree.createDirectory("Notes")
    }

    private func perform(_ change: LocalChange, isOpen: (FileStatus) -> OpenState = { _ in .closed }) throws
        -> CompareAndSwapOutcome
    {
        try CompareAndSwap.perform(tree, change, isOpen: isOpen)
    }

    private func committed(_ change: LocalChange) throws -> CommittedChange {
        guard case .done(let committed) = try perform(change) else {
            throw StoreError(.failed, "not done: \(change)")
        }
        return committed
    }

    private func inode(_ path: RelativePath) throws -> UInt64 { try tree.requiredStatus(at: path).inode }

    @Test("install brings the staged file, keeps its attributes, and says which inode it replaced")
    func install() throws {
        let old = try directory.write("old", to: "Notes/a")
        let staged = try directory.stage("new")
        let change = LocalChange(
            path: "Notes/a", .install(stagedPath: staged, dataless: true), expecting: .fingerprint(old.fingerprint),
            base: base)
        let committed = try committed(change)
        let now = try tree.requiredStatus(at: "Notes/a")
        #expect(committed.previous?.inode == old.inode && committed.status == now && now.inode != old.inode)
        #expect(try committed.parent == inode("Notes"))
        #expect(
            committed.commit
                == StoreEvent.Commit(
                    .installed(parent: committed.parent, name: "a", now, dataless: true), base: base))
        #expect(try directory.read("Notes/a") == "new")
        #expect(now.mode == 0o640 && now.mtime == FileTime(seconds: 1_800_000_000, nanoseconds: 7))
        #expect(access(staged, F_OK) != 0)
    }

    @Test("Of a file with several names the commit says what the others are then", arguments: [0, 1, 2])
    func otherNames(way: Int) throws {
        try directory.write("old", to: "Notes/a")
        #expect(Glibc.link(tree.rootPath + "/Notes/a", tree.rootPath + "/Notes/b") == 0)
        let before = try tree.requiredStatus(at: "Notes/a")
        let operation: LocalChange.Operation =
            switch way {
            case 0: .install(stagedPath: try directory.stage("new"), dataless: false)
            case 1: .move(to: "Notes/c")
            default: .remove
            }
        let committed = try committed(
            LocalChange(path: "Notes/a", operation, expecting: .fingerprint(before.fingerprint), base: nil))
        let now = try tree.requiredStatus(at: "Notes/b")
        #expect(now.inode == before.inode && now.ctime > before.ctime)
        #expect(committed.commit.otherNames == now)
    }

    @Test("Content that comes or goes leaves the directory's mtime as it was; another document's changes it")
    func directoryTime() throws {
        let old = try directory.write("old", to: "Notes/a")
        let chosen = FileTime(seconds: 1_600_000_000, nanoseconds: 42)
        #expect(utimensat(AT_FDCWD, tree.rootPath + "/Notes", [chosen.timespec, chosen.timespec], 0) == 0)
        let before = try tree.requiredStatus(at: "Notes")
        let staged = try directory.stage("new")
        let times = [old.mtime.timespec, old.mtime.timespec]
        #expect(utimensat(AT_FDCWD, staged, times, 0) == 0)
        let committed = try committed(
            LocalChange(
                path: "Notes/a", .install(stagedPath: staged, dataless: true),
                expecting: .fingerprint(old.fingerprint), base: base))
        let now = try tree.requiredStatus(at: "Notes")
        #expect(try directory.read("Notes/a") == "new")
        #expect(now.mtime == chosen && now.ctime > before.ctime)

        let status = try #require(committed.status)
        _ = try self.committed(
            LocalChange(
                path: "Notes/a", .install(stagedPath: try directory.stage("new"), dataless: false),
                expecting: .fingerprint(status.fingerprint), base: base))
        #expect(try tree.requiredStatus(at: "Notes").mtime > chosen)
    }

    @Test("A directory that was made after it was looked at is not the expected one, though it has its inode number")
    func madeAnew() throws {
        try tree.createDirectory("Notes/d")
        let now = try tree.requiredStatus(at: "Notes/d")
        var before = now.fingerprint
        before.ctime = FileTime(nanoseconds: now.ctime.nanoseconds - 1_000_000_000)
        for operation in [
            LocalChange.Operation.remove, .move(to: "Notes/e"), .setAttributes(mode: 0o700, mtime: before.mtime),
        ] {
            #expect(try perform(LocalChange("Notes/d", operation, expecting: .fingerprint(before))) == .stale)
        }
        #expect(try tree.requiredStatus(at: "Notes/d") == now)
        _ = try committed(LocalChange("Notes/d", .remove, expecting: .fingerprint(now.fingerprint)))
    }

    @Test("A file that anyone has open for writing is not replaced or removed; one that is open for reading is")
    func openElsewhere() throws {
        let old = try directory.write("old", to: "Notes/a")
        let install = LocalChange(
            path: "Notes/a", .install(stagedPath: try directory.stage("new"), dataless: true),
            expecting: .fingerprint(old.fingerprint), base: base)
        let remove = LocalChange("Notes/a", .remove, expecting: .fingerprint(old.fingerprint))
        for flags in [O_WRONLY, O_RDWR, O_RDWR | O_APPEND] {
            let descriptor = open(tree.rootPath + "/Notes/a", flags | O_CLOEXEC)
            #expect(descriptor >= 0)
            #expect(try perform(install) == .busy)
            #expect(try perform(remove) == .busy)
            close(descriptor)
        }
        let reader = open(tree.rootPath + "/Notes/a", O_RDONLY | O_CLOEXEC)
        defer { close(reader) }
        _ = try committed(install)
        #expect(try directory.read("Notes/a") == "new")
    }

    @Test(
        "What root installs belongs to the one whose file it replaces, else to the directory's",
        .enabled(if: geteuid() == 0))
    func installGivesAway() throws {
        let old = try directory.write("old", to: "Notes/a")
        #expect(chown(tree.rootPath + "/Notes", 4711, 4712) == 0 && chown(tree.rootPath + "/Notes/a", 4713, 4714) == 0)
        let before = try tree.requiredStatus(at: "Notes/a")
        _ = try committed(
            LocalChange(
                path: "Notes/a", .install(stagedPath: try directory.stage("new"), dataless: false),
                expecting: .fingerprint(before.fingerprint), base: base))
        _ = try committed(
            LocalChange(
                path: "Notes/b", .install(stagedPath: try directory.stage("new"), dataless: false), expecting: .absent,
                base: nil))
        #expect(try owner("Notes/a") == [4713, 4714])
        #expect(try owner("Notes/b") == [4711, 4712])
        _ = old
    }

    @Test("What programs set on a file is on whatever takes its place, but for what belongs to the file itself")
    func installCarriesAttributes() throws {
        try directory.write("old", to: "Notes/a")
        do {
            let file = try tree.open("Notes/a", O_RDWR)
            for name in ["note", "xdg.tags", "quire.placeholder", "given"] {
                try file.setAttribute("user.\(name)", Array("old \(name)".utf8), "a")
            }
            try file.setAttribute("user.large", Array(repeating: 7, count: 1000), "a")
        }
        var base = base
        for tags in [nil, ["red"]] {
            let staged = try directory.stage("new")
            do {
                let file = try OwnedDescriptor.open(staged, O_RDWR)
                try file.setAttribute("user.given", Array("new".utf8), staged)
                try file.setMode(0o444, staged)
            }
            base.tags = tags
            let before = try tree.requiredStatus(at: "Notes/a")
            let now = try committed(
                LocalChange(
                    path: "Notes/a", .install(stagedPath: staged, dataless: false),
                    expecting: .fingerprint(before.fingerprint), base: base)
            ).status
            #expect(now?.mode == 0o444)
            let file = try tree.openForReading("Notes/a")
            #expect(try now == file.status())
            #expect(try file.attribute("user.note", "a") == Array("old note".utf8))
            #expect(try file.attribute("user.large", "a") == Array(repeating: 7, count: 1000))
            #expect(try file.attribute("user.given", "a") == Array("new".utf8))
            #expect(try file.attribute("user.quire.placeholder", "a") == nil)
            #expect(try file.attribute("user.xdg.tags", "a") == (tags == nil ? Array("old xdg.tags".utf8) : nil))
        }
    }

    @Test("Where attributes do not fit, a document is not evicted, and its content arrives without them")
    func attributesWithoutRoom() throws {
        try directory.write("old", to: "Notes/a")
        var count = 0
        do {
            let file = try tree.open("Notes/a", O_RDWR)
            // Up to the limit that some file systems have of all together.
            while count < 40, (try? file.setAttribute("user.a\(count)", Array(repeating: 7, count: 900), "a")) != nil {
                count += 1
            }
        }
        let status = try tree.requiredStatus(at: "Notes/a")
        func install(dataless: Bool) throws -> CompareAndSwapOutcome {
            let staged = try directory.stage("new")
            let file = try OwnedDescriptor.open(staged, O_RDWR)
            try file.setAttribute(StoreAttribute.placeholder, Array(repeating: 7, count: 900), staged)
            return try perform(
                LocalChange(
                    path: "Notes/a", .install(stagedPath: staged, dataless: dataless),
                    expecting: .fingerprint(status.fingerprint), base: base, keepsContent: true))
        }
        // This file system has room for more than that.
        guard count < 40 else { return }
        #expect(throws: LocalChangeError.self) { try install(dataless: true) }
        #expect(try tree.requiredStatus(at: "Notes/a") == status)
        guard case .done = try install(dataless: false) else {
            Issue.record("not installed")
            return
        }
        #expect(try directory.read("Notes/a") == "new")
    }

    private func owner(_ path: String) throws -> [UInt32] {
        var status = stat()
        guard lstat(tree.rootPath + "/" + path, &status) == 0 else { throw StoreError(errno: errno, "find", path) }
        return [status.st_uid, status.st_gid]
    }

    @Test("makeDirectory sets mode and mtime exactly, whatever the umask")
    func makeDirectory() throws {
        let mtime = FileTime(seconds: 1_500_000_000, nanoseconds: 999_999_999)
        let change = LocalChange("Notes/sub", .makeDirectory(mode: 0o1777, mtime: mtime), expecting: .absent)
        let status = try #require(try committed(change).status)
        #expect(status.kind == .directory && status.mode == 0o1777 && status.mtime == mtime)
    }

    @Test("move names both directories and refuses a taken target and a missing one")
    func move() throws {
        let status = try directory.write("x", to: "Notes/a")
        try tree.createDirectory("Other")
        try directory.write("taken", to: "Other/taken")
        func move(_ target: RelativePath) -> LocalChange {
            LocalChange("Notes/a", .move(to: target), expecting: .fingerprint(status.fingerprint))
        }
        #expect(try perform(move("Other/taken")) == .stale)
        #expect(try perform(move("Missing/a")) == .stale)
        let committed = try committed(move("Other/b"))
        let now = try tree.requiredStatus(at: "Other/b")
        #expect(try committed.parent == inode("Notes") && committed.destinationParent == inode("Other"))
        #expect(
            committed.commit.change
                == .moved(
                    fromParent: committed.parent, fromName: "a", toParent: try inode("Other"), toName: "b", now))
        #expect(now.inode == status.inode)
    }

    @Test("a directory cannot be moved into itself: EINVAL, and nothing changed")
    func moveIntoItself() throws {
        let status = try tree.requiredStatus(at: "Notes")
        let change = LocalChange("Notes", .move(to: "Notes/inside"), expecting: .fingerprint(status.fingerprint))
        #expect(throws: LocalChangeError.self) { try perform(change) }
        #expect(try inode("Notes") == status.inode)
    }

    @Test("remove says which inode went; setAttributes keeps content and inode")
    func removeAndAttributes() throws {
        let status = try directory.write("x", to: "Notes/a", mode: 0o600)
        let mtime = FileTime(seconds: -5, nanoseconds: 1)
        let attributes = LocalChange(
            "Notes/a", .setAttributes(mode: 0o444, mtime: mtime), expecting: .fingerprint(status.fingerprint))
        let now = try #require(try committed(attributes).status)
        #expect(now.mode == 0o444 && now.mtime == mtime && now.inode == status.inode)
        let removal = try committed(LocalChange("Notes/a", .remove, expecting: .fingerprint(now.fingerprint)))
        #expect(
            removal.commit.change == .removed(parent: removal.parent, name: "a", inode: status.inode)
                && removal.status == nil)
    }

    @Test("a symlink's mtime is set on the link, never on what it points at")
    func linkAttributes() throws {
        let target = try directory.write("x", to: "Notes/target")
        try tree.createLink("Notes/link", target: Array("target".utf8))
        let link = try tree.requiredStatus(at: "Notes/link")
        let mtime = FileTime(seconds: 1, nanoseconds: 0)
        let change = LocalChange(
            "Notes/link", .setAttributes(mode: 0o600, mtime: mtime), expecting: .fingerprint(link.fingerprint))
        #expect(try committed(change).status?.mtime == mtime)
        #expect(try tree.requiredStatus(at: "Notes/target") == target)
    }

    @Test("an open file is busy: a writer always, a reader for an eviction only", arguments: [false, true])
    func busy(refuseIfOpen: Bool) throws {
        let status = try directory.write("x", to: "Notes/a")
        for (state, expected) in [(OpenState.writing, true), (.reading, refuseIfOpen)] {
            let staged = try directory.stage("new")
            let change = LocalChange(
                "Notes/a", .install(stagedPath: staged, dataless: false),
                expecting: .fingerprint(try inodeAndAll("Notes/a")), refuseIfOpen: refuseIfOpen)
            var asked: [UInt64] = []
            let outcome = try perform(change) {
                asked.append($0.inode)
                return state
            }
            #expect((outcome == .busy) == expected)
            #expect(asked == [status.inode])
        }
    }

    private func inodeAndAll(_ path: RelativePath) throws -> Fingerprint {
        try tree.requiredStatus(at: path).fingerprint
    }

    @Test("any difference in the fingerprint is stale, and the file is not even asked for handles")
    func staleFingerprints() throws {
        let real = try directory.write("x", to: "Notes/a").fingerprint
        var others = [real, real, real, real, real]
        others[0].inode += 1
        others[1].size += 1
        others[2].mtime = FileTime(nanoseconds: real.mtime.nanoseconds + 1)
        others[3].ctime = FileTime(nanoseconds: real.ctime.nanoseconds - 1)
        others[4].kind = .symlink
        for other in others {
            let outcome = try perform(LocalChange("Notes/a", .remove, expecting: .fingerprint(other))) { _ in .writing }
            #expect(outcome == .stale)
        }
    }

    @Test("a missing directory, or a link in the middle of the path, is stale; nothing is written beyond it")
    func wrongWay() throws {
        try tree.createLink("way", target: Array("Notes".utf8))
        for path: RelativePath in ["Missing/a", "way/a", "Missing/deep/a"] {
            let staged = try directory.stage("new")
            let install = LocalChange(path, .install(stagedPath: staged, dataless: false), expecting: .absent)
            #expect(try perform(install) == .stale)
        }
        #expect(try directory.names("Notes").isEmpty)
    }

    @Test("a staged file that is gone is an error with its errno, and nothing changed")
    func stagedGone() throws {
        let old = try directory.write("old", to: "Notes/a")
        let change = LocalChange(
            "Notes/a", .install(stagedPath: directory.staging.uniquePath(), dataless: false),
            expecting: .fingerprint(old.fingerprint))
        do throws(LocalChangeError) {
            _ = try CompareAndSwap.perform(tree, change) { _ in .closed }
            Issue.record("installed nothing")
        } catch {
            #expect(error.errno == ENOENT && error.path == "Notes/a")
        }
        #expect(try directory.read("Notes/a") == "old")
    }

    @Test("changes from many threads are one after the other, each with one event")
    func concurrent() async throws {
        let log = EventLog()
        let committer = StoreCommitter(tree: tree, sink: log)
        let staged = try (0..<16).map { try directory.stage("content \($0)") }
        let done = await withTaskGroup(of: Int.self) { group in
            for path in staged {
                group.addTask {
                    let change = LocalChange(
                        "Notes/one", .install(stagedPath: path, dataless: false), expecting: .absent)
                    return (try? committer.commit(change)) == .stale ? 0 : 1
                }
            }
            return await group.reduce(0, +)
        }
        #expect(done == 1 && log.events.count == 1)
        #expect(try directory.stagedNames().count == 15)
    }

    @Test("what has open writers is told by inode")
    func openForWriting() {
        let committer = StoreCommitter(tree: tree, sink: EventLog()) { $0 == 7 ? .writing : .reading }
        #expect(committer.isOpenForWriting(inode: 7) && !committer.isOpenForWriting(inode: 8))
    }
}
