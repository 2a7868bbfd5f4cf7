import Foundation
import Glibc
import QuireCore
import Testing

@testable import QuireProviders

/// What a folder makes of a filesystem that is not like Linux's own: FAT, exFAT, and what FUSE stands for.
@Suite("Folders on foreign filesystems")
struct FolderFilesystemTests {
    private let foreign = Self.hooks { probe in
        probe.versions.inodesStay = false
        probe.cutEndings = [0x2E]
        probe.folding = .letterCase
    }

    private static func hooks(_ afterProbe: @escaping @Sendable (inout FolderProbe) -> Void) -> FolderHooks {
        var hooks = FolderHooks()
        hooks.afterProbe = afterProbe
        return hooks
    }

    private func facts(_ path: String) throws -> FileFacts {
        let file = OpenFile(taking: open(path, O_RDONLY))
        return try SystemCalls.status(of: file.descriptor)
    }

    @Test(
        "A lock may be of this machine only on FUSE, not on disks, NFS and SMB",
        arguments: [(0x6573_5546, true), (0xEF53, false), (0x6969, false), (0xFF53_4D42, false)])
    func localLock(filesystem: Int, isLocal: Bool) {
        #expect(FolderLock.mayBeOfThisMachineOnly(on: filesystem) == isLocal)
    }

    @Test("A version is the same after the disk was mounted again, with other inode numbers")
    func mountedAgain() async throws {
        let bench = try await ProviderForm.folderOnDisk.open()
        try await bench.put("a", "x")
        try await bench.directory("d")
        for path in ["a", "d"] {
            let before = try facts(bench.file(path))
            var after = before
            after.inode += 1
            after.ctime = FileTime(nanoseconds: before.ctime.nanoseconds + 1)
            var versions = FolderVersion()
            #expect(versions.version(of: before) != versions.version(of: after))
            #expect(versions.identifier(of: before) != nil)
            versions.inodesStay = false
            #expect(versions.version(of: before) == versions.version(of: after))
            #expect(versions.identifier(of: before) == nil)
            (after.birth, after.inode) = (nil, 7)
            var unborn = before
            unborn.birth = nil
            #expect(versions.version(of: unborn) == versions.version(of: after))
        }
        var edited = try facts(bench.file("a"))
        let before = edited
        edited.mtime = FileTime(nanoseconds: before.mtime.nanoseconds + 1)
        var versions = FolderVersion()
        versions.inodesStay = false
        #expect(versions.version(of: edited) != versions.version(of: before))
        edited = before
        edited.size += 1
        #expect(versions.version(of: edited) != versions.version(of: before))
    }

    @Test(
        "A lease that is refused tells of a writer, but not on network filesystems, which refuse them unasked",
        arguments: [
            (0, 0xEF53, .done), (EAGAIN, 0xEF53, .writerPresent), (EAGAIN, 0x0102_1994, .writerPresent),
            (EAGAIN, 0x6573_5546, .writerPresent), (EAGAIN, 0x6969, .unknown), (EAGAIN, 0xFF53_4D42, .unknown),
            (EAGAIN, 0xFE53_4D42, .unknown), (EAGAIN, 0x517B, .unknown), (EINVAL, 0xEF53, .unknown),
            (EACCES, 0x6969, .unknown), (0, 0x6969, .done),
        ] as [(Int32, Int, WriterProbe.Outcome)])
    func leases(code: Int32, filesystem: Int, outcome: WriterProbe.Outcome) {
        #expect(WriterProbe.outcome(ofLease: code, on: filesystem) == outcome)
    }

    @Test("Times count as the disk keeps them, before they were read from it as well")
    func times() async throws {
        let bench = try await ProviderForm.folderOnDisk.open()
        try await bench.put("a", "x")
        var fine = try facts(bench.file("a"))
        fine.mtime = FileTime(nanoseconds: 1_000_000_007_654_321)
        fine.birth = fine.mtime
        var kept = fine
        kept.mtime = FileTime(nanoseconds: 1_000_000_000_000_000)
        kept.birth = kept.mtime
        var versions = FolderVersion()
        versions.timeUnit = 10_000_000
        #expect(versions.version(of: fine) == versions.version(of: kept))
        #expect(versions.item("a", fine).mtime == kept.mtime)
        fine.mtime = FileTime(nanoseconds: -1)
        #expect(versions.item("a", fine).mtime == FileTime(nanoseconds: -10_000_000))
        fine.mtime = FileTime(nanoseconds: .min)
        #expect(versions.item("a", fine).mtime == fine.mtime)
    }

    @Test("Where inode numbers do not stay a folder tells no identifiers, and its conditions hold")
    func conditions() async throws {
        let bench = try await ProviderForm.folderOnDisk.open(hooks: foreign)
        #expect(!bench.provider.capabilities.stableIdentifiers)
        let first = try await bench.put("a", "x")
        #expect(first.identifier == nil)
        #expect(try await bench.listing()["a"]?.version == first.version)
        let second = try await bench.put("a", "y", .version(first.version))
        #expect(second.version != first.version)
        #expect(try await bench.provider.item(at: "a")?.version == second.version)
        #expect(await refusal { try await bench.put("a", "z", .version(first.version)) } == .conditionFailed)
        #expect(await refusal { try await bench.provider.delete("a", expecting: first.version) } == .conditionFailed)
        let moved = try await bench.provider.move("a", to: "b", expecting: second.version)
        #expect(moved.version == second.version)
        #expect(try await bench.fetch(moved).bytes == Array("y".utf8))
        try await bench.provider.delete("b", expecting: moved.version)
        #expect(bench.leftovers.isEmpty)
    }

    @Test("The folder is still the one it was where its mark has another inode number, if these do not stay")
    func markOfAnotherNumber() async throws {
        let bench = try await ProviderForm.folderOnDisk.open()
        let mark = bench.file(".quire/store.json")
        let session = try FolderSession(root: bench.file(""))
        // Another file with the same content and times.
        var times = stat()
        #expect(stat(mark, &times) == 0)
        try Data(contentsOf: URL(filePath: mark)).write(to: URL(filePath: mark + ".new"))
        #expect(utimensat(AT_FDCWD, mark + ".new", [times.st_atim, times.st_mtim], 0) == 0)
        #expect(rename(mark + ".new", mark) == 0)
        var versions = FolderVersion()
        #expect(throws: ProviderError.self) { try session.confirmMarker(root: bench.file(""), versions) }
        versions.inodesStay = false
        // FAT tells no birth that differs.
        versions.timeUnit = 1 << 60
        try session.confirmMarker(root: bench.file(""), versions)
        #expect(unlink(mark) == 0)
        #expect(throws: ProviderError.self) { try session.confirmMarker(root: bench.file(""), versions) }
    }

    @Test("Where files keep no modes none are told, of what is listed, looked at or put")
    func modes() async throws {
        let hooks = Self.hooks { probe in probe.versions.keepsAttributes = false }
        let bench = try await ProviderForm.folderOnDisk.open(hooks: hooks)
        #expect(!bench.provider.capabilities.attributes)
        try await bench.directory("d")
        let put = try await bench.put("d/a", "x")
        #expect(put.mode == nil)
        for (path, item) in try await bench.listing() { #expect(item.mode == nil, "\(path)") }
        #expect(try await bench.provider.item(at: "d/a")?.mode == nil)
        #expect(try await bench.fetch(put).item.mode == nil)
    }

    @Test(
        "A disk that keeps modes, and times not to the nanosecond, counts as one that keeps neither",
        arguments: [1, 100, 1_000_000_000])
    func coarseTimes(unit: Int64) async throws {
        let disk = try await ProviderForm.folderOnDisk.open()
        try await disk.put("a", "x")
        var found = try facts(disk.file("a"))
        let time = FolderProbe.tried.mtime.nanoseconds
        (found.mode, found.mtime) = (FolderProbe.tried.mode, FileTime(nanoseconds: time - time % unit))
        let facts = found
        let bench = try await ProviderForm.folderOnDisk.open(hooks: Self.hooks { $0.take(facts) })
        #expect(bench.provider.capabilities.attributes == (unit == 1))
        let put = try await bench.put("a", "x")
        #expect((put.mode != nil) == (unit == 1))
    }

    @Test("Content of the same size and time is another version where no inode number tells it apart")
    func sameTimes() async throws {
        let day: Int64 = 24 * 3600 * 1_000_000_000
        let hooks = Self.hooks { probe in (probe.versions.inodesStay, probe.versions.timeUnit) = (false, day) }
        let bench = try await ProviderForm.folderOnDisk.open(hooks: hooks)
        let first = try await bench.put("a", "x")
        let second = try await bench.put("a", "y", .version(first.version))
        #expect(second.version != first.version)
        #expect(second.mtime > first.mtime)
        #expect(try await bench.provider.item(at: "a")?.version == second.version)
        #expect(await refusal { try await bench.fetch(first) } == .conditionFailed)
    }

    @Test("A name that the disk cuts is refused, and nothing is found under it")
    func cutNames() async throws {
        let bench = try await ProviderForm.folderOnDisk.open(hooks: foreign)
        let item = try await bench.put("report", "x")
        Plain.write("x", to: bench.file("report."))
        #expect(await refusal { try await bench.put("report.", "x") } == .invalidName)
        #expect(await refusal { try await bench.put("dir./report", "x") } == .invalidName)
        #expect(await refusal { try await bench.directory("dir.") } == .invalidName)
        #expect(await refusal { try await bench.provider.item(at: "report.") } == .invalidName)
        #expect(await refusal { try await bench.provider.delete("report.", expecting: item.version) } == .invalidName)
        #expect(
            await refusal { try await bench.provider.move("report", to: "a.", expecting: item.version) } == .invalidName
        )
        #expect(try await bench.provider.item(at: "report")?.version == item.version)
    }

    @Test("A name is in a directory byte for byte, or not")
    func exactNames() async throws {
        let bench = try await ProviderForm.folderOnDisk.open(hooks: foreign)
        try await bench.put("Readme", "x")
        let root = try FolderSession.openRoot(bench.file(""))
        #expect(try DirectoryNames.contains("Readme", in: root.descriptor))
        #expect(try !DirectoryNames.contains("README", in: root.descriptor))
        #expect(try await bench.provider.item(at: "Readme") != nil)
    }
}
