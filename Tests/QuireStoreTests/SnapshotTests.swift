import Glibc
import QuireCore
import Testing

@testable import QuireStore

@Suite("A snapshot") struct SnapshotTests {
    let directory: TemporaryDirectory
    var tree: DriveTree { directory.tree }

    init() throws { directory = try TemporaryDirectory() }

    private func take(_ path: RelativePath, whenCopied: () -> Void = {}) throws(StoreError) -> Snapshot {
        try Snapshot.take(tree, path, staging: directory.staging, now: later, whenCopied: whenCopied)
    }

    private func content(_ snapshot: Snapshot) throws -> [UInt8] {
        guard case .file(let path) = snapshot.content else { throw StoreError(.wrongKind, "no file") }
        let file = try OwnedDescriptor.open(path, O_RDONLY)
        var bytes = [UInt8](repeating: 0, count: Int(snapshot.size.bytes) + 1)
        let count = read(file.rawValue, &bytes, bytes.count)
        return Array(bytes.prefix(max(0, count)))
    }

    @Test(
        "has the content, its SHA-256, and the fingerprint of the state it is of", arguments: [0, 1, 4096, 3_000_001])
    func roundTrip(size: Int) throws {
        let text = String(repeating: "0123456789abcdefghijk", count: size / 21 + 1).prefix(size)
        let status = try directory.write(String(text), to: "doc")
        let snapshot = try take("doc")
        #expect(try content(snapshot) == Array(text.utf8))
        #expect(snapshot.checksum == ContentHasher.checksum(of: Array(text.utf8)))
        #expect(snapshot.fingerprint == status.fingerprint && snapshot.status == status)
        #expect(snapshot.size.bytes == Int64(size))
    }

    @Test("of a sparse file is the same bytes, and as sparse")
    func sparse() throws {
        try directory.write("head", to: "doc")
        let file = try tree.open("doc", O_RDWR)
        #expect(ftruncate(file.rawValue, 40 << 20) == 0)
        #expect(pwrite(file.rawValue, "middle", 6, 20 << 20) == 6)
        let snapshot = try take("doc")
        let bytes = try content(snapshot)
        #expect(bytes.count == 40 << 20 && Array(bytes[(20 << 20)..<(20 << 20) + 6]) == Array("middle".utf8))
        #expect(snapshot.checksum == ContentHasher.checksum(of: bytes))
        guard case .file(let path) = snapshot.content else { return }
        #expect(try OwnedDescriptor.open(path, O_RDONLY).status().blocks * 512 < 1 << 20)
    }

    @Test("of a file with a huge hole is given up when the file changes, and when it is cancelled")
    func givenUp() throws {
        try directory.write("head", to: "doc")
        let file = try tree.open("doc", O_RDWR)
        #expect(ftruncate(file.rawValue, 1 << 39) == 0)
        for changes in [true, false] {
            var looks = 0
            let error = #expect(throws: StoreError.self) {
                try Snapshot.take(
                    tree, "doc", staging: directory.staging,
                    isCancelled: {
                        looks += 1
                        if changes, looks == 2 { ftruncate(file.rawValue, 1 << 38) }
                        return !changes && looks == 2
                    }, now: later)
            }
            #expect(error?.code == (changes ? .changed : .cancelled))
        }
    }

    @Test("of what is larger than any document is refused at once")
    func tooLarge() throws {
        try directory.write("head", to: "doc")
        let file = try tree.open("doc", O_RDWR)
        #expect(ftruncate(file.rawValue, (1 << 40) + 1) == 0)
        let error = #expect(throws: StoreError.self) { try take("doc") }
        #expect(error?.code == .failed && error?.message.contains("1 TiB") == true)
    }

    @Test("of a symlink is its target's bytes")
    func link() throws {
        let target: [UInt8] = [0x61, 0xFF, 0x2F]
        try tree.createLink("link", target: target)
        let snapshot = try take("link")
        #expect(snapshot.content == .symlink(target: target) && snapshot.size.bytes == 3)
        #expect(snapshot.checksum == ContentHasher.checksum(of: target))
        #expect(snapshot.status.kind == .symlink)
    }

    @Test("of a file that was written to within two ticks is refused, to be tried again")
    func racy() throws {
        let status = try directory.write("x", to: "doc")
        for (offset, expected) in [(0, StoreError.Code.tooFresh), (19_999_999, .tooFresh), (20_000_000, nil)]
            as [(Int64, StoreError.Code?)]
        {
            let now = FileTime(nanoseconds: status.ctime.nanoseconds + offset)
            let result = code { () throws(StoreError) in
                _ = try Snapshot.take(tree, "doc", staging: directory.staging, now: { now })
            }
            #expect(result == expected)
        }
        #expect(try directory.stagedNames().count == 1)
    }

    enum Meddling: CaseIterable { case write, append, cut, replace, remove, chmod, samesize }

    @Test("of a file that changes meanwhile is refused and leaves nothing", arguments: Meddling.allCases)
    func changed(_ meddling: Meddling) throws {
        try directory.write("content", to: "doc")
        let result = code { () throws(StoreError) in
            _ = try take("doc", whenCopied: { meddle(meddling) })
        }
        #expect(result == .changed)
        #expect(try directory.stagedNames().isEmpty)
    }

    private func meddle(_ meddling: Meddling) {
        do {
            switch meddling {
            case .write: try directory.write("other content", to: "doc")
            case .append:
                let file = try tree.open("doc", O_RDWR)
                #expect(pwrite(file.rawValue, "x", 1, 7) == 1)
            case .cut:
                let file = try tree.open("doc", O_RDWR)
                #expect(ftruncate(file.rawValue, 3) == 0)
            case .replace:
                try directory.write("content", to: "new")
                try tree.remove("doc")
                try tree.rename("new", to: "doc")
            case .remove: try tree.remove("doc")
            case .chmod: try tree.open("doc", O_RDWR).setMode(0o600, "doc")
            case .samesize: try directory.write("CONTENT", to: "doc")
            }
        } catch {
            Issue.record(error)
        }
    }

    @Test("of a placeholder is refused: its zeros are never content")
    func placeholder() throws {
        let staged = try Placeholder.create(
            Placeholder(version: ProviderVersion("v"), container: .default), size: ByteCount(5),
            mtime: FileTime(seconds: 1, nanoseconds: 0), mode: 0o600, in: directory.staging)
        #expect(rename(staged, tree.rootPath + "/doc") == 0)
        #expect(code { () throws(StoreError) in _ = try take("doc") } == .dataless)
        #expect(try directory.stagedNames().isEmpty)
    }

    @Test("of what is no document is refused")
    func wrongKinds() throws {
        try tree.createDirectory("dir")
        let root = try tree.directory(.root)
        #expect(mkfifoat(root.rawValue, "pipe", 0o600) == 0)
        #expect(code { () throws(StoreError) in _ = try take("dir") } == .wrongKind)
        #expect(code { () throws(StoreError) in _ = try take("pipe") } == .wrongKind)
        #expect(code { () throws(StoreError) in _ = try take("missing") } == .notFound)
    }

    @Test("that is cancelled stops and leaves nothing")
    func cancelled() throws {
        try directory.write(String(repeating: "x", count: 3 << 20), to: "doc")
        var asked = 0
        let result = code { () throws(StoreError) in
            _ = try Snapshot.take(
                tree, "doc", staging: directory.staging,
                isCancelled: {
                    asked += 1
                    return asked == 2
                }, now: later)
        }
        #expect(result == .cancelled && asked == 2)
        #expect(try directory.stagedNames().isEmpty)
    }

    @Test("on a full disk fails with ENOSPC and leaves nothing", .enabled(if: geteuid() == 0, "needs root to mount"))
    func diskFull() throws {
        let small = try SmallFilesystem(type: "tmpfs", options: "size=256k", at: directory.path + "/small")
        try directory.write(String(repeating: "x", count: 2 << 20), to: "doc")
        let result = code { () throws(StoreError) in
            _ = try Snapshot.take(tree, "doc", staging: Staging(path: small.path), now: later)
        }
        #expect(result == .noSpace)
        #expect(try DriveTree(opening: small.path).list(.root).isEmpty)
    }
}

/// A filesystem mounted for one test.
final class SmallFilesystem {
    let path: String

    init(type: String, options: String = "", at path: String) throws {
        self.path = path
        try HomeDirectory.create(path)
        guard mount(type, path, type, 0, options) == 0 else { throw StoreError(errno: errno, "mount", path) }
    }

    deinit {
        if umount2(path, Int32(MNT_DETACH)) != 0 { Issue.record("cannot unmount \(path): \(errno)") }
        rmdir(path)
    }
}
