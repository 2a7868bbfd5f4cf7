import Glibc
import QuireCore
import Testing

@testable import QuireStore

@Suite("A drive's home") struct DriveHomeTests {
    let directory: TemporaryDirectory
    var home: DriveHome { directory.home }

    init() throws { directory = try TemporaryDirectory() }

    @Test("is made with its directories, all 0700, parents included")
    func layout() throws {
        let home = DriveHome(path: directory.path + "/deep/er/home/")
        #expect(home.path == directory.path + "/deep/er/home")
        #expect(try home.createLayout() == DriveHome.Layout(isNew: true))
        let tree = try DriveTree(opening: home.path)
        let entries = try tree.list(.root)
        let names = entries.map(\.name.description).sorted()
        #expect(names == ["data", "drive", "partial", "provider", "staging", "versions"])
        #expect(entries.allSatisfy { $0.status.mode == 0o700 })
        #expect(try tree.requiredStatus(at: .root).mode == 0o700)
    }

    @Test("that is there stays as it is, and a store that has vanished is made anew")
    func again() throws {
        try directory.write("x", to: "doc")
        #expect(try home.createLayout() == DriveHome.Layout(isNew: false))
        #expect(try directory.read("doc") == "x")
        #expect(rename(home.storePath, directory.path + "/gone") == 0)
        #expect(try home.createLayout() == DriveHome.Layout(isNew: false))
        #expect(try home.openStore().list(.root).isEmpty)
    }

    @Test("says where everything lies")
    func paths() throws {
        let home = DriveHome(path: "/h")
        #expect(
            [home.configPath, home.indexPath, home.socketPath, home.pidPath, home.logPath]
                == ["/h/config.toml", "/h/index.sqlite", "/h/daemon.sock", "/h/daemon.pid", "/h/daemon.log"])
        let notes = try #require(ContainerID("iCloud.com.example.Notes"))
        #expect(home.dataPath(notes) == "/h/data/iCloud.com.example.Notes")
        try self.home.createDataDirectory(notes)
        try self.home.createDataDirectory(notes)
        #expect(access(self.home.dataPath(notes), X_OK) == 0)
    }

    @Test("something in the way is named with a remedy")
    func inTheWay() throws {
        #expect(rmdir(home.versionsPath) == 0)
        _ = try OwnedDescriptor.open(home.versionsPath, O_WRONLY | O_CREAT, mode: 0o600)
        do throws(StoreError) {
            try home.createLayout()
            Issue.record("took a file for a directory")
        } catch {
            #expect(error.code == .wrongKind && error.description.contains(home.versionsPath) && error.remedy != nil)
        }
    }

    @Test("has one daemon: the second is refused, naming the first's pid")
    func lock() throws {
        #expect(try home.runningDaemon() == nil)
        do {
            let lock = try home.lock()
            #expect(try home.runningDaemon() == getpid())
            do throws(StoreError) {
                _ = try home.lock()
                Issue.record("two daemons on one home")
            } catch {
                #expect(error.code == .homeInUse && error.description.contains("pid \(getpid())"))
            }
            withExtendedLifetime(lock) {}
        }
        #expect(try home.runningDaemon() == nil)
        withExtendedLifetime(try home.lock()) {}
    }

    @Test("a pid file that a dead daemon left is taken over")
    func deadDaemon() throws {
        let file = try OwnedDescriptor.open(home.pidPath, O_WRONLY | O_CREAT, mode: 0o600)
        #expect(write(file.rawValue, "999999999999\n", 13) == 13)
        #expect(try home.runningDaemon() == nil)
        let lock = try home.lock()
        #expect(try home.runningDaemon() == getpid())
        withExtendedLifetime(lock) {}
    }

    @Test("staging is swept, directories and all")
    func sweep() throws {
        _ = try directory.stage("left over")
        let staging = try DriveTree(opening: home.stagingPath)
        try staging.createDirectory("d")
        _ = try staging.createFile("d/f")
        #expect(try home.staging.sweep() == 3)
        #expect(try directory.stagedNames().isEmpty)
        #expect(try home.staging.sweep() == 0)
    }

    @Test("a staged file goes when it is dropped, and stays when it is kept")
    func stagedFiles() throws {
        do { _ = try home.staging.createFile() }
        #expect(try directory.stagedNames().isEmpty)
        let path = try home.staging.createFile().keep()
        #expect(access(path, F_OK) == 0)
        home.staging.discard(path)
        home.staging.discard(path)
        #expect(try directory.stagedNames().isEmpty)
    }

    @Test("what was staged is written through, few or many; what is not there is told", arguments: [0, 1, 3, 4, 20])
    func writtenThrough(count: Int) throws {
        let paths = try (0..<count).map { _ in try home.staging.createFile().keep() }
        try home.staging.writeThrough(paths)
        #expect(try directory.stagedNames().count == count)
        let missing = "\(home.staging.path)/missing"
        #expect(code { () throws(StoreError) in try home.staging.writeThrough([missing]) } == .notFound)
        let gone = Staging(path: "\(home.staging.path)/gone")
        #expect(code { () throws(StoreError) in try gone.writeThrough(["a", "b", "c", "d"]) } == .notFound)
    }

    @Test("a staged link has the target and mtime it was given")
    func stagedLink() throws {
        let mtime = FileTime(seconds: 1_234_567_890, nanoseconds: 987_654_321)
        let path = try home.staging.createLink(target: [0xFF, 0x61], mtime: mtime)
        let change = LocalChange("link", .install(stagedPath: path, dataless: false), expecting: .absent)
        #expect(try StoreCommitter(tree: directory.tree, sink: EventLog()).commit(change) != .stale)
        #expect(try directory.tree.readLink("link") == [0xFF, 0x61])
        #expect(try directory.tree.requiredStatus(at: "link").mtime == mtime)
    }
}

@Suite("The filesystem of a home") struct FilesystemProbeTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func refusal(_ home: DriveHome, _ probe: FilesystemProbe) -> StoreError? {
        do throws(StoreError) {
            try home.checkFilesystem(probe)
            return nil
        } catch {
            return error
        }
    }

    private func fake(_ attributes: Int32 = 0, _ rename: Int32 = 0, _ across: Int32 = 0) -> FilesystemProbe {
        FilesystemProbe(
            userAttributes: { _ in attributes }, renameWithoutReplace: { _ in rename }, renameAcross: { _, _ in across }
        )
    }

    @Test("that has all it takes is accepted, and the probe leaves nothing", arguments: ["/tmp", "/dev/shm"])
    func suitable(base: String) throws {
        let directory = try TemporaryDirectory(in: base)
        try directory.home.checkFilesystem()
        #expect(try directory.stagedNames().isEmpty)
        #expect(try directory.names().isEmpty)
    }

    @Test("without user attributes or rename without replacing is refused, saying which, why and what to do")
    func unsuitable() throws {
        let home = directory.home
        let attributes = try #require(refusal(home, fake(EOPNOTSUPP)))
        #expect(attributes.code == .unsuitableFilesystem && attributes.errno == EOPNOTSUPP)
        #expect(attributes.message.contains("user extended attributes") && attributes.message.contains(home.path))
        #expect(attributes.remedy?.contains("--home") == true)
        let rename = try #require(refusal(home, fake(0, EINVAL)))
        #expect(rename.code == .unsuitableFilesystem && rename.message.contains("rename"))
        let across = try #require(refusal(home, fake(0, 0, EXDEV)))
        #expect(across.code == .unsuitableFilesystem && across.message.contains(home.storePath))
        #expect(refusal(home, fake(0, 0, EBUSY)) == nil)
    }

    @Test("that is full or read-only is not called unsuitable")
    func full() throws {
        #expect(refusal(directory.home, fake(ENOSPC))?.code == .noSpace)
        #expect(refusal(directory.home, fake(EROFS))?.code == .permissionDenied)
    }

    @Test("ramfs is refused for real", .enabled(if: geteuid() == 0, "needs root to mount"))
    func ramfs() throws {
        let ram = try SmallFilesystem(type: "ramfs", at: directory.path + "/ram")
        let home = DriveHome(path: ram.path + "/home")
        try home.createLayout()
        let error = try #require(refusal(home, .system))
        #expect(error.code == .unsuitableFilesystem)
        #expect(error.message.contains("(ramfs) has no user extended attributes"))
    }

    @Test("a store that is a mount of its own is refused for real", .enabled(if: geteuid() == 0, "needs root to mount"))
    func separateMount() throws {
        let mounted = try SmallFilesystem(type: "tmpfs", at: directory.home.storePath)
        let error = try #require(refusal(directory.home, .system))
        #expect(error.code == .unsuitableFilesystem && error.errno == EXDEV && error.message.contains(mounted.path))
        withExtendedLifetime(mounted) {}
    }
}
