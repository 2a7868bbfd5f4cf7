import Glibc
import Testing

@testable import QuireIndex
@testable import QuireCore

extension TestDrive {
    /// Overwrites every page of the open index, and of its log.
    func damageIndex() throws {
        for path in [indexPath, indexPath + "-wal"] {
            let file = open(path, O_RDWR)
            guard file >= 0 else { continue }
            defer { close(file) }
            let noise = [UInt8](repeating: 0xA5, count: Int(lseek(file, 0, SEEK_END)))
            guard pwrite(file, noise, noise.count, 0) == noise.count else { throw TestError("damage \(path)") }
        }
    }

    /// Has the writing connection read from the file what it needs next.
    func forgetPages() async throws {
        try await index.write("a test") { db in try db.run("PRAGMA shrink_memory") }
    }

    /// Returns when the index has begun anew.
    func rebuilt(_ number: Int = 1) async throws -> IndexRebuild {
        for await rebuild in index.rebuilds where rebuild.number >= number { return rebuild }
        throw TestError("the index was closed")
    }
}
