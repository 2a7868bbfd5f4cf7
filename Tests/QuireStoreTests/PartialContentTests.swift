import Glibc
import QuireCore
import QuireStore
import Testing

@Suite struct PartialContentTests {
    let home: TemporaryDirectory
    let staging: Staging
    let directory: String
    let subject = PartialContent.Subject(
        item: ItemID(7), container: .default, version: ProviderVersion("v 1\nof two lines"), size: 100_000)

    init() throws {
        home = try TemporaryDirectory()
        staging = Staging(path: "\(home.path)/staging")
        directory = "\(home.path)/partial"
        mkdir(staging.path, 0o700)
    }

    private func write(_ content: PartialContent, _ range: Range<Int64>, _ byte: UInt8 = 1) throws {
        let file = try OwnedDescriptor.open(content.path, O_WRONLY)
        let bytes = [UInt8](repeating: byte, count: range.count)
        #expect(pwrite(file.rawValue, bytes, bytes.count, off_t(range.lowerBound)) == bytes.count)
    }

    @Test("What was saved is known to the next daemon; what was not counts as absent")
    func survives() throws {
        let (content, present) = try PartialContent.open(subject, in: directory, staging: staging)
        #expect(present.isEmpty)
        try write(content, 0..<4096)
        try write(content, 50_000..<100_000)
        let saved = RangeSet([0..<4096, 50_000..<100_000] as [Range<Int64>])
        try content.save(saved)
        try write(content, 4096..<8192)
        let left = try PartialContent.left(in: directory, staging: staging)
        #expect(left.map(\.subject) == [subject])
        #expect(left.map(\.present) == [54_096])
        #expect(try PartialContent.open(subject, in: directory, staging: staging).present == saved)
        #expect(try content.reading().status().size == subject.size)
    }

    @Test("What is here of another version, size or container is not mixed in")
    func otherVersions() throws {
        for change in [
            { $0.version = ProviderVersion("v2") }, { $0.size += 1 },
            { $0.container = try #require(ContainerID("org.example.other")) },
        ] as [(inout PartialContent.Subject) throws -> Void] {
            let (content, _) = try PartialContent.open(subject, in: directory, staging: staging)
            try write(content, 0..<10)
            try content.save(RangeSet(0..<10))
            var other = subject
            try change(&other)
            let (anew, present) = try PartialContent.open(other, in: directory, staging: staging)
            #expect(present.isEmpty)
            #expect(try anew.reading().status().blocks == 0)
            anew.discard()
        }
    }

    @Test("Bytes without a map, maps without bytes and damaged maps are removed, not believed")
    func junk() throws {
        let (content, _) = try PartialContent.open(subject, in: directory, staging: staging)
        #expect(try PartialContent.left(in: directory, staging: staging).isEmpty)
        #expect(access(content.path, F_OK) != 0)
        for damage in ["quire-partial 2", "quire-partial 1\ncontainer default\nsize 9\nranges 0-10\nversion x", ""] {
            let (content, _) = try PartialContent.open(subject, in: directory, staging: staging)
            try content.save(RangeSet(0..<10))
            let map = open("\(content.path).map", O_WRONLY | O_TRUNC)
            #expect(Glibc.write(map, damage, damage.utf8.count) == damage.utf8.count)
            close(map)
            #expect(try PartialContent.left(in: directory, staging: staging).isEmpty, "\(damage)")
            #expect(access("\(content.path).map", F_OK) != 0, "\(damage)")
        }
        let (again, _) = try PartialContent.open(subject, in: directory, staging: staging)
        try again.save(RangeSet(0..<10))
        unlink(again.path)
        #expect(try PartialContent.left(in: directory, staging: staging).isEmpty)
        #expect(access("\(again.path).map", F_OK) != 0)
        #expect(try PartialContent.left(in: "\(home.path)/none", staging: staging).isEmpty)
    }

    @Test("Whole content is only finished where it is what it should be")
    func finish() throws {
        let small = PartialContent.Subject(
            item: ItemID(8), container: .default, version: ProviderVersion("v"), size: 3)
        let (content, _) = try PartialContent.open(small, in: directory, staging: staging)
        try write(content, 0..<3, 0x61)
        let file = try content.reading()
        let wrong = try #require(ContentChecksum(bytes: [UInt8](repeating: 0, count: 32)))
        let time = FileTime(nanoseconds: 1_600_000_000_000_000_000)
        let right = ContentHasher.checksum(of: [UInt8](repeating: 0x61, count: 3))
        #expect(try !content.finish(file, mtime: time, mode: 0o640, known: wrong, isCancelled: { false }))
        #expect(try content.reading().status().mtime != time)
        #expect(try content.finish(file, mtime: time, mode: 0o640, known: right, isCancelled: { false }))
        let status = try content.reading().status()
        #expect(status.mtime == time && status.mode & 0o777 == 0o640)
        #expect(throws: StoreError.self) {
            _ = try content.finish(file, mtime: time, mode: 0o640, known: right, isCancelled: { true })
        }
    }

    @Test("Of whole content of which nothing is known only the size is looked at: it is not read")
    func finishUnknown() throws {
        let small = PartialContent.Subject(
            item: ItemID(9), container: .default, version: ProviderVersion("v"), size: 3)
        let (content, _) = try PartialContent.open(small, in: directory, staging: staging)
        let file = try content.reading()
        let time = FileTime(nanoseconds: 1_600_000_000_000_000_000)
        // Whoever reads asks whether to go on.
        #expect(try content.finish(file, mtime: time, mode: 0o600, known: nil, isCancelled: { true }))
        #expect(try content.reading().status().mtime == time)
        #expect(truncate(content.path, 2) == 0)
        #expect(try !content.finish(file, mtime: time, mode: 0o600, known: nil, isCancelled: { true }))
    }
}
