import Testing

@testable import QuireCore

@Suite("Types by content") struct MagicTests {
    private func catalog(_ magic: [UInt8]) throws -> TypeCatalog {
        let fixture = try MimeFixture()
        return MimeFixture.catalog(try fixture.directory("a", globs: "50:a/b:*.ab\n", magic: magic))
    }

    @Test("a rule is bytes at a place, or in one of several, under a mask")
    func rules() throws {
        let catalog = try catalog(
            MagicBytes.file(
                ("image/x-place", 50, [MagicBytes.rule(at: 4, [1, 2])]),
                ("image/x-range", 50, [MagicBytes.rule(at: 8, [9, 9], places: 4)]),
                ("image/x-mask", 50, [MagicBytes.rule([0xF0, 0x01], mask: [0xF0, 0xFF])])))
        #expect(catalog.identifier(content: [0, 0, 0, 0, 1, 2]) == "dyn.mime.image.x-place")
        #expect(catalog.identifier(content: [0, 0, 0, 0, 1]) == "public.data")
        let zeros = [UInt8](repeating: 0, count: 11)
        #expect(catalog.identifier(content: zeros + [9, 9]) == "dyn.mime.image.x-range")
        #expect(catalog.identifier(content: [0] + zeros + [9, 9]) == "public.data")
        #expect(catalog.identifier(content: [0xF7, 0x01]) == "dyn.mime.image.x-mask")
        #expect(catalog.identifier(content: [0xE7, 0x01]) == "public.data")
    }

    @Test("rules below a rule count where that matched, and one of them must")
    func nested() throws {
        let catalog = try catalog(
            MagicBytes.file(
                (
                    "image/x-nested", 50,
                    [
                        MagicBytes.rule([1]), MagicBytes.rule(depth: 1, at: 1, [2]),
                        MagicBytes.rule(depth: 2, at: 2, [3]),
                        MagicBytes.rule(depth: 1, at: 1, [4]), MagicBytes.rule([7]),
                    ]
                )))
        for content in [[1, 2, 3], [1, 4, 0], [7, 0]] as [[UInt8]] {
            #expect(catalog.identifier(content: content) == "dyn.mime.image.x-nested", "\(content)")
        }
        for content in [[1, 2, 0], [1, 0, 3], [0, 2, 3], [0, 4], [1]] as [[UInt8]] {
            #expect(catalog.identifier(content: content) != "dyn.mime.image.x-nested", "\(content)")
        }
    }

    @Test("the greater priority counts, and words stand in this machine's order")
    func priorities() throws {
        let catalog = try catalog(
            MagicBytes.file(
                ("image/x-low", 40, [MagicBytes.rule([1, 2])]), ("image/x-high", 60, [MagicBytes.rule([1, 2, 3])]),
                ("image/x-word", 50, [MagicBytes.rule([0xAA, 0xBB, 0xCC, 0xDD], word: 4)])))
        #expect(catalog.identifier(content: [1, 2, 3]) == "dyn.mime.image.x-high")
        #expect(catalog.identifier(content: [1, 2, 0]) == "dyn.mime.image.x-low")
        let value = UInt32(0xAABB_CCDD)
        #expect(catalog.identifier(content: withUnsafeBytes(of: value) { Array($0) }) == "dyn.mime.image.x-word")
    }

    @Test(
        "the commonest formats are known without a database",
        arguments: [
            ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0], "public.png"),
            (Array("%PDF-1.7".utf8), "com.adobe.pdf"),
            (Array("{\\rtf1 x".utf8), "public.rtf"), (Array("#!/bin/sh\n".utf8), "public.shell-script"),
            ([], "public.data"), ([0, 1, 2, 3], "public.data"),
        ] as [([UInt8], String)])
    func bare(content: [UInt8], identifier: String) {
        #expect(ContentTypeTests.bare.identifier(content: content) == identifier)
    }

    @Test(
        "text is told by its bytes",
        arguments: [
            (Array("plain\n\ttext\u{1B}[0m".utf8), "public.utf8-plain-text"),
            (Array("ünï".utf8), "public.utf8-plain-text"),
            (Array("caf".utf8) + [0xE9] + Array(" au lait".utf8), "public.plain-text"),
            ([0xFF, 0xFE, 0x41, 0], "public.utf16-plain-text"), ([0x41, 0x00, 0x42], "public.data"),
            ([0xE9, 0xE8, 0xE7, 0x80], "public.data"),
        ] as [([UInt8], String)])
    func text(content: [UInt8], identifier: String) {
        #expect(ContentTypeTests.bare.identifier(content: content) == identifier)
    }

    @Test("a character cut off at the end of what was read is no fault, one in the middle is")
    func cutCharacters() {
        let text = Array(String(repeating: "a", count: 40).utf8)
        for character in ["é", "€", "😀"] {
            for length in 1..<character.utf8.count {
                let cut = text + character.utf8.prefix(length)
                #expect(TextDetection.find(cut, isWhole: false) == .utf8, "\(character) \(length)")
                #expect(TextDetection.find(cut, isWhole: true) == .other, "\(character) \(length)")
                #expect(TextDetection.find(cut + text, isWhole: false) == .other, "\(character) \(length)")
            }
        }
    }

    @Test("a file of rules that is cut off anywhere, or changed anywhere, is read as far as it goes")
    func damage() throws {
        let magic = MagicBytes.file(
            ("image/x-a", 50, [MagicBytes.rule([1, 2], mask: [1, 1], word: 2, places: 3)]),
            ("image/x-b", 50, [MagicBytes.rule([3, 4])]))
        #expect(MagicReader.sections(magic).count == 2)
        var generator = SplitMix(state: 7)
        for end in magic.indices {
            #expect(MagicReader.sections(Array(magic[..<end])).count <= 2)
            var changed = magic
            changed[end] = UInt8.random(in: .min ... .max, using: &generator)
            for section in MagicReader.sections(changed) {
                var budget = 1000
                _ = section.matches([1, 2, 3, 4], &budget)
                #expect(budget >= -8)
            }
        }
    }

    @Test("rules that would compare without end stop at a bound")
    func bound() throws {
        let wide = (0..<2000).map { _ in
            MagicBytes.rule(Array(repeating: 0, count: 200) + [1], places: 999_999_999)
        }
        let catalog = try catalog(MagicBytes.file(("image/x-wide", 50, wide)))
        let content = [UInt8](repeating: 0, count: TypeCatalog.contentReach)
        let start = ContinuousClock.now
        #expect(catalog.identifier(content: content) == "public.data")
        #expect(ContinuousClock.now - start < .seconds(20))
    }
}
