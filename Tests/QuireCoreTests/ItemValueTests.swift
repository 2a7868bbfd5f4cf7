import QuireCore
import Testing

@Suite("Times") struct FileTimeTests {
    @Test(
        "split into seconds and a rest that is never negative",
        arguments: [
            (0, 0), (1, 5), (-1, 999_999_999), (-2, 0), (1_700_000_000, 123_456_789), (-9_000_000_000, 1),
        ])
    func split(seconds: Int, rest: Int) {
        let time = FileTime(seconds: seconds, nanoseconds: rest)
        #expect(time.seconds == seconds && time.subsecondNanoseconds == rest)
    }

    @Test("beyond what 64 bits hold are clamped")
    func clamped() {
        #expect(FileTime(seconds: .max, nanoseconds: 0).nanoseconds == .max)
        #expect(FileTime(seconds: .min, nanoseconds: 0).nanoseconds == .min)
        for time in [FileTime(nanoseconds: .max), FileTime(nanoseconds: .min)] {
            #expect((0..<1_000_000_000).contains(time.subsecondNanoseconds))
        }
    }

    @Test("are ordered")
    func order() {
        #expect(FileTime(seconds: -1, nanoseconds: 999_999_999) < FileTime(nanoseconds: 0))
        #expect(FileTime(nanoseconds: 1) < FileTime(nanoseconds: 2))
    }
}

@Suite("Fingerprints") struct FingerprintTests {
    private func fingerprint(mtime: Int64, ctime: Int64) -> Fingerprint {
        Fingerprint(
            inode: 1, size: 1, mtime: FileTime(nanoseconds: mtime), ctime: FileTime(nanoseconds: ctime), kind: .file)
    }

    @Test(
        "are racy within two ticks of either time, and not when a time lies ahead",
        arguments: [
            (0, 0, true), (19_999_999, 1_000_000_000, true), (1_000_000_000, 19_999_999, true),
            (20_000_000, 20_000_000, false),
            (-3_600_000_000_000, -3_600_000_000_000, false), (-3_600_000_000_000, 5_000_000, true),
            (1_000_000_000_000, -10_000_000, true),
        ] as [(Int64, Int64, Bool)])
    func racy(mtimeAge: Int64, ctimeAge: Int64, expected: Bool) {
        let now: Int64 = 1_800_000_000_000_000_000
        let fingerprint = fingerprint(mtime: now - mtimeAge, ctime: now - ctimeAge)
        #expect(fingerprint.isRacy(takenAt: FileTime(nanoseconds: now)) == expected)
    }

    @Test("with times at the ends of the range are not racy")
    func extremes() {
        let now = FileTime(nanoseconds: 1_800_000_000_000_000_000)
        #expect(!fingerprint(mtime: .min, ctime: .max).isRacy(takenAt: now))
    }

    @Test(
        "a file that has a size may be a placeholder, whatever is allocated for it",
        arguments: [(100, 0, true), (100, 8, true), (0, 0, false), (1 << 20, 128, true), (1 << 20, 2048, true)]
            as [(Int64, Int64, Bool)])
    func placeholders(size: Int64, blocks: Int64, expected: Bool) {
        var status = FileStatus(
            kind: .file, mode: 0o644, size: size, mtime: FileTime(nanoseconds: 0), ctime: FileTime(nanoseconds: 0),
            device: 1,
            inode: 1, linkCount: 1, blocks: blocks)
        #expect(status.mayBePlaceholder == expected)
        status.kind = .directory
        #expect(!status.mayBePlaceholder)
    }
}

@Suite("Ids and amounts") struct IdentifierTests {
    @Test("an item id is 16 hexadecimal digits and back")
    func itemIDs() {
        #expect(ItemID(0x1A2B_0000_0001).description == "00001a2b00000001")
        #expect(ItemID("00001a2b00000001") == ItemID(0x1A2B_0000_0001))
        for bad in ["", "1", "0000000000000000", "ffffffffffffffff", "00001a2b0000000g", "+0001a2b00000001 "] {
            #expect(ItemID(bad) == nil)
        }
    }

    @Test("a checksum is 64 hexadecimal digits and back")
    func checksums() throws {
        let text = String(repeating: "0f", count: 32)
        #expect(try #require(ContentChecksum(hex: text)).description == text)
        for bad in ["", String(repeating: "0", count: 63), String(repeating: "g", count: 64), text + "0"] {
            #expect(ContentChecksum(hex: bad) == nil)
        }
        #expect(ContentChecksum(hex: String(repeating: "+1", count: 32)) == nil)
        #expect(ContentChecksum(bytes: [1]) == nil)
    }

    @Test(
        "a container id is reverse DNS",
        arguments: [
            ("iCloud.com.example.Notes", true), ("default", true), ("a-b_c.d", true), ("", false), (".a", false),
            ("a.", false),
            ("a..b", false), ("a/b", false), ("a b", false), ("ü", false), (String(repeating: "a", count: 201), false),
        ])
    func containers(text: String, valid: Bool) { #expect((ContainerID(text) != nil) == valid) }

    @Test(
        "amounts are shown in powers of 1,000",
        arguments: [
            (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (4_249, "4.2 kB"), (9_999, "9.9 kB"), (10_000, "10 kB"),
            (999_999, "999 kB"),
            (1_500_000, "1.5 MB"), (1_000_000_000_000, "1.0 TB"), (.max, "9223 PB"),
        ] as [(Int64, String)])
    func amounts(bytes: Int64, text: String) { #expect(ByteCount(bytes).description == text) }
}
