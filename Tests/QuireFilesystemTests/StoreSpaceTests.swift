import CFuse
import Glibc
import Testing

@testable import QuireFilesystem

@Suite("Room in the store")
struct StoreSpaceTests {
    @Test("After a write that found no room it is short for a minute, whatever the file system says")
    func refusal() throws {
        // On a file system with no limit at all.
        let root = try unlimited()
        let space = StoreSpace()
        #expect(!space.isShort(root, at: 1_000_000_000))
        space.refused(EIO, at: 1_000_000_000)
        #expect(!space.isShort(root, at: 1_000_000_001))
        space.refused(EDQUOT, at: 1_000_000_000)
        #expect(space.isShort(root, at: 60_999_999_999))
        #expect(!space.isShort(root, at: 61_200_000_000))
    }

    @Test("A file system that says it has none is short")
    func none() throws {
        let proc = Descriptor(owning: open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC))
        #expect(StoreSpace().isShort(proc, at: 1_000_000_000))
    }

    private func unlimited() throws -> Descriptor {
        for path in ["/dev/shm", "/tmp", "/"] {
            var space = statvfs()
            guard statvfs(path, &space) == 0,
                UInt64(space.f_bavail) * UInt64(space.f_frsize) > StoreSpace.plenty
            else { continue }
            return Descriptor(owning: open(path, O_PATH | O_DIRECTORY | O_CLOEXEC))
        }
        throw TestFailure("no file system here has 1 GiB of room")
    }
}
