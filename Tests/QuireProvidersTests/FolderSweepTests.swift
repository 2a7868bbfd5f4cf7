import Glibc
import QuireCore
@testable import QuireProviders
import Testing

@Suite("Sweep of what crashes left")
struct FolderSweepTests {
    private let tomorrow = FileTime(nanoseconds: SystemCalls.now().nanoseconds + FolderSweep.age * 2)

    @Test("Old leftovers go; what is held stays, and what may be somebody's is kept")
    func sweep() async throws {
        let bench = try await ProviderForm.folderOnDisk.open()
        let displaced = try await bench.put("displaced", "old")
        let ours = try #require(UInt64(displaced.version.rawValue.split(separator: "-")[1], radix: 16))
        func leave(_ name: FileName, _ text: String) -> String {
            let path = bench.file(".quire/tmp/\(name)")
            Plain.write(text, to: path)
            return path
        }
        _ = leave("put-dead", "half an upload")
        let held = open(leave("put-held", "an upload under way"), O_RDONLY)
        defer { close(held) }
        #expect(flock(held, LOCK_EX) == 0)
        let swap = FolderLayout.swapName(staged: 1, displacing: displaced.version)
        rename(bench.file("displaced"), bench.file(".quire/tmp/\(swap)"))
        let doubtful = FolderLayout.swapName(staged: ours, displacing: displaced.version)
        _ = leave(doubtful, "a foreign tool's")
        let session = try FolderSession(root: bench.file(""))
        FolderSweep.run(session, now: SystemCalls.now())
        #expect(bench.leftovers.count == 4, "all are young")
        FolderSweep.run(session, now: tomorrow)
        // A process that another test starts has this one's descriptors, and the lock of the upload, until it executes: then it
        // is left for the next time.
        for _ in 0..<500 where bench.leftovers != ["put-held"] {
            try await Task.sleep(for: .milliseconds(10))
            FolderSweep.run(session, now: tomorrow)
        }
        #expect(bench.leftovers == ["put-held"])
        #expect(Plain.names(in: bench.file(".quire/kept")) == ["\(doubtful)"])
        FolderSweep.run(session, now: tomorrow)
        #expect(Plain.names(in: bench.file(".quire/kept")).count == 1)
    }

    @Test("What was touched at no time that 64 bits hold, or that is as far from now, stays")
    func unknownTimes() async throws {
        let bench = try await ProviderForm.folderOnDisk.open()
        Plain.write("an upload", to: bench.file(".quire/tmp/put-dead"))
        let session = try FolderSession(root: bench.file(""))
        FolderSweep.run(session, now: FileTime(nanoseconds: .min))
        #expect(bench.leftovers == ["put-dead"])
        #expect(!FolderSweep.isOld(FileTime(nanoseconds: .min), now: SystemCalls.now()))
        #expect(!FolderSweep.isOld(FileTime(nanoseconds: .max), now: SystemCalls.now()))
        #expect(!FolderSweep.isOld(SystemCalls.now(), now: SystemCalls.now()))
        #expect(FolderSweep.isOld(SystemCalls.now(), now: tomorrow))
    }

    @Test("The name of a swap says what it may hold")
    func names() throws {
        let version = ProviderVersion("f-2a-0-5-17")
        let parsed = try #require(FolderLayout.parseSwapName(FolderLayout.swapName(staged: 0xAB, displacing: version)))
        #expect(parsed.staged == 0xAB && parsed.version == version)
        #expect(FolderLayout.parseSwapName("put-1") == nil)
    }

    @Test("Every errno has a code, and lack of room, rights and names have theirs")
    func errors() {
        let expected: [Int32: ProviderError.Code] = [
            ENOSPC: .noSpace, EDQUOT: .noSpace, EACCES: .permissionDenied, EPERM: .permissionDenied,
            EROFS: .permissionDenied, ENAMETOOLONG: .invalidName, EILSEQ: .invalidName, EINVAL: .invalidName,
            EEXIST: .conditionFailed, ENOTEMPTY: .notEmpty, ENOENT: .notFound, EIO: .unavailable, ESTALE: .unavailable,
            EMFILE: .failed,
        ]
        for (errno, code) in expected {
            let error = ErrnoTranslation.error(SystemFailure(errno, "open"), "dir/a", "written")
            #expect(error.code == code)
            #expect(error.message.contains("dir/a"))
        }
    }
}
