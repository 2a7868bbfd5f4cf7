import Glibc
import QuireCore
import Testing

@testable import QuireProviders

@Suite("Directories of a folder that may not be read")
struct FolderUnseenTests {
    /// As a user who is not root, on this thread.
    private func unprivileged<Value>(_ body: () throws -> Value) throws -> Value {
        guard geteuid() == 0 else { return try body() }
        typealias Call = @convention(c) (UInt32) -> Int32
        let setfsuid = unsafeBitCast(try #require(dlsym(nil, "setfsuid")), to: Call.self)
        _ = setfsuid(65534)
        defer { _ = setfsuid(0) }
        return try body()
    }

    private func walk(_ root: String) throws -> (told: Set<RelativePath>, unseen: Set<RelativePath>, digest: String) {
        let directory = OpenFile(taking: open(root, O_RDONLY | O_DIRECTORY))
        var walk = try FolderWalk(root: directory, cancellation: Cancellation(), hooks: FolderHooks())
        let told = try walk.run().map(\.path)
        var digests = try FolderWalk(root: directory, cancellation: Cancellation(), hooks: FolderHooks()) { entry in
            RemoteItem(
                path: entry.path, kind: entry.facts.kind, version: ProviderVersion("1"), size: .zero,
                mtime: FileTime(nanoseconds: 0))
        }
        return (Set(told), Set(walk.unseen.map(\.path)), try #require(try digests.digest()).cursor.rawValue)
    }

    @Test("They are unseen, all else is listed, and a change of that is one of the listing", arguments: [0o000, 0o444])
    func unread(mode: mode_t) throws {
        let work = try TemporaryDirectory()
        chmod(work.path, 0o755)
        Shell.run("mkdir", "-p", work.appending("lost+found/x"), work.appending("d/e"))
        Shell.run("touch", work.appending("a"), work.appending("d/b"))
        let seen = try unprivileged { try walk(work.path) }
        #expect(seen.told == ["a", "d", "d/b", "d/e", "lost+found", "lost+found/x"] && seen.unseen.isEmpty)
        chmod(work.appending("lost+found"), mode)
        defer { chmod(work.appending("lost+found"), 0o755) }
        let unseen = try unprivileged { try walk(work.path) }
        #expect(unseen.told == ["a", "d", "d/b", "d/e", "lost+found"])
        #expect(unseen.unseen == ["lost+found"])
        #expect(unseen.digest != seen.digest)
    }

    private static func device(of path: String) -> UInt? {
        var status = stat()
        return stat(path, &status) == 0 ? UInt(status.st_dev) : nil
    }

    @Test(
        "What is on another filesystem is unseen, and nothing in it is told; all else is listed",
        .enabled(if: device(of: "/dev") != device(of: "/dev/shm"), "needs a filesystem within another one"))
    func mounted() throws {
        let file = "/dev/shm/quire-unseen-\(getpid())"
        Shell.run("touch", file)
        defer { unlink(file) }
        let seen = try walk("/dev")
        #expect(seen.unseen.contains("shm"))
        #expect(!seen.told.contains { $0.isInside("shm") })
        #expect(seen.told.contains("fd"))
    }

    @Test("Of a folder that may not be read itself, nothing is listed")
    func root() throws {
        let work = try TemporaryDirectory()
        chmod(work.path, 0o444)
        Shell.run("touch", work.appending("a"))
        defer { chmod(work.path, 0o755) }
        #expect(throws: ProviderError.self) { try unprivileged { try walk(work.path) } }
    }
}
