import QuireCore
import Testing

@Suite("Names of conflict copies") struct ConflictNameTests {
    @Test("are NAME (conflicted copy DATE from DEVICE).EXT")
    func form() {
        let name = ConflictName.make(original: "Report.odt", date: "2026-03-01", device: "laptop")
        #expect(name == "Report (conflicted copy 2026-03-01 from laptop).odt")
        #expect(
            ConflictName.make(original: ".profile", date: "2026-03-01", device: "x", attempt: 2)
                == ".profile (conflicted copy 2026-03-01 from x 2)")
    }

    @Test("are read back", arguments: ["a", "a.txt", "a.tar.gz", ".profile", "with (brackets).md", "x from y.txt"])
    func roundTrip(original: String) throws {
        let document = try #require(FileName(original))
        for device in ["laptop", "my from box", "(odd) device", "日本"] {
            let name = ConflictName.make(original: document, date: "2026-12-31", device: device)
            let read = try #require(ConflictName(name), "\(name)")
            #expect(read.original == document && read.date == "2026-12-31" && read.device == device, "\(name)")
        }
    }

    @Test("of a copy's own copy name the copy")
    func nested() throws {
        let first = ConflictName.make(original: "a.txt", date: "2026-01-01", device: "x")
        let second = ConflictName.make(original: first, date: "2026-01-02", device: "y")
        let read = try #require(ConflictName(second))
        #expect(read.original == first && read.device == "y")
    }

    @Test(
        "are not seen where there are none",
        arguments: [
            "a.txt", "a (conflicted copy).txt", "a (conflicted copy 2026-1-1 from x).txt",
            "a (conflicted copy 2026-01-01).txt",
            "a (conflicted copy 2026-01-01 from x.txt", "a (conflicted copy xxxx-xx-xx from x)",
            " (conflicted copy 2026-01-01 from x)",
        ])
    func others(text: String) throws { #expect(ConflictName(try #require(FileName(text))) == nil) }

    @Test("are at most 255 bytes, cut between characters, the extension kept")
    func length() throws {
        for unit in ["a", "ü", "日", "😀"] {
            for count in [50, 60, 63, 100, 127, 251] where unit.utf8.count * count <= 251 {
                let original = try #require(FileName(String(repeating: unit, count: count) + ".txt"))
                let name = ConflictName.make(original: original, date: "2026-01-01", device: "device", attempt: 12)
                let text = try #require(name.string, "not UTF-8: \(name)")
                #expect(name.bytes.count <= 255 && text.hasSuffix(" from device 12).txt") && text.hasPrefix(unit))
                let read = try #require(ConflictName(name))
                let short = try #require(FileName(unit + ".txt"))
                #expect(read.isCopy(of: original) && (read.original == original || read.mayBeCut), "\(count) \(unit)")
                #expect(!read.isCopy(of: "other.txt") && !read.isCopy(of: short))
            }
        }
    }

    @Test("of names that are not UTF-8, or all extension, are names")
    func odd() throws {
        let raw = try #require(FileName([UInt8](repeating: 0xFF, count: 255)))
        #expect(ConflictName.make(original: raw, date: "2026-01-01", device: "x").bytes.count <= 255)
        let long = try #require(FileName("a." + String(repeating: "e", count: 253)))
        #expect(ConflictName.make(original: long, date: "2026-01-01", device: "x").bytes.count <= 255)
        let device = String(repeating: "長", count: 200)
        let name = ConflictName.make(original: "a.txt", date: "2026-01-01", device: device)
        #expect(name.bytes.count <= 255 && name.string?.hasSuffix(").txt") == true)
        // Forty characters of a thousand bytes.
        let family = String(repeating: "👨‍👩‍👧‍👦", count: 50)
        for original in ["a.txt", long, raw] as [FileName] {
            let name = ConflictName.make(original: original, date: "2026-01-01", device: family, attempt: 1000)
            #expect(name.bytes.count <= 255, "\(name)")
            let text = String(decoding: name.bytes, as: UTF8.self)
            #expect(text.contains(" from 👨‍👩‍👧‍👦") && text.contains(" 1000)"), "\(name)")
        }
        #expect(ConflictName.make(original: "a", date: "2026-01-01", device: "a/b\n").string?.contains("a-b-") == true)
    }
}
