import QuireCore
import Testing

@Suite("Names and paths") struct NameTests {
    @Test("a name is any bytes but empty, ., .., with slash or NUL")
    func names() {
        for bad in ["", ".", "..", "a/b", "/", "a\0"] { #expect(FileName(bad) == nil) }
        for good in ["a", "...", ".a", " ", "\n", "\\", "ü"] { #expect(FileName(good)?.string == good) }
        #expect(FileName([0xFF] as [UInt8])?.string == nil)
        #expect(FileName("é") != FileName("e\u{301}"))
    }

    @Test(
        "names for people hide no byte",
        arguments: [
            ([0x61, 0x0A, 0x62], "a\\x0ab"), ([0xFF, 0x41], "\\xffA"), ([0xC3, 0xBC, 0xFF], "ü\\xff"),
            ([0x7F], "\\x7f"),
            ([0x41, 0xE2, 0x82], "A\\xe2\\x82"), ([0xF0, 0x9F, 0x98, 0x80, 0x01], "😀\\x01"),
        ] as [([UInt8], String)])
    func display(bytes: [UInt8], text: String) throws { #expect(try #require(FileName(bytes)).description == text) }

    @Test(
        "the extension begins at the last dot, but for a leading one",
        arguments: [
            ("a.txt", "a", ".txt"), ("a.tar.gz", "a.tar", ".gz"), (".profile", ".profile", ""), ("a", "a", ""),
            ("a.", "a", "."),
            (".a.b", ".a", ".b"),
        ])
    func extensions(name: String, stem: String, suffix: String) throws {
        let parts = try #require(FileName(name)).stemAndExtension
        #expect(Array(parts.stem) == Array(stem.utf8) && Array(parts.extension) == Array(suffix.utf8))
    }

    @Test("a path is read as people write it, and never leads upwards")
    func parsing() {
        #expect(RelativePath(parsing: "//a/./b///c/")?.components == ["a", "b", "c"])
        #expect(
            RelativePath(parsing: "/") == .root && RelativePath(parsing: "") == .root
                && RelativePath(parsing: ".") == .root)
        for bad in ["..", "a/..", "../a", "a/../b", "a\0b"] { #expect(RelativePath(parsing: bad) == nil) }
    }

    @Test("parent, name and appending undo one another")
    func family() throws {
        let path: RelativePath = "a/b/c"
        #expect(path.name == "c" && path.parent == "a/b")
        #expect(try #require(path.parent).appending(try #require(path.name)) == path)
        #expect(RelativePath.root.name == nil && RelativePath.root.parent == nil)
        #expect(RelativePath("a").parent == .root)
        #expect(RelativePath.root.appending(path) == path && path.appending(RelativePath.root) == path)
        #expect(RelativePath(path.components) == path)
        #expect(RelativePath.root.description == "." && path.description == "a/b/c")
    }

    @Test("being inside goes by whole names")
    func inside() {
        let path: RelativePath = "ab/c"
        #expect(path.isInside("ab") && path.isInside(path) && path.isInside(.root))
        #expect(!path.isInside("a") && !path.isInside("ab/c/d") && !path.isInside("b"))
        #expect(path.removing(ancestor: "ab") == "c" && path.removing(ancestor: path) == .root)
        #expect(path.removing(ancestor: .root) == path && path.removing(ancestor: "a") == nil)
    }
}

@Suite("Shell patterns") struct GlobTests {
    @Test(
        "match the whole name, byte by byte",
        arguments: [
            ("*", "", true), ("*", "anything", true), ("a*", "a", true), ("a*b", "ab", true), ("a*b", "axxb", true),
            ("a*b", "axxbc", false), ("*.swp", ".a.swp", true), (".*.sw?", ".a.swp", true), (".*.sw?", "a.swp", false),
            ("?", "a", true), ("?", "", false), ("?", "ü", false), ("??", "ü", true), ("[a-c]x", "bx", true),
            ("[a-c]x", "dx", false),
            ("[!a-c]", "d", true), ("[^a-c]", "a", false), ("[]]", "]", true), ("[!]]", "]", false),
            ("[]a]", "a", true),
            ("[a-]", "-", true), ("[", "[", true), ("[a", "[a", true), ("\\*", "*", true), ("\\*", "a", false),
            ("a\\", "a\\", true),
            ("**a**", "bab", true), ("*a*a*a*", "aa", false), ("*a*a*a*", "xaxaxax", true), ("", "", true),
            ("", "a", false),
        ])
    func table(pattern: String, name: String, expected: Bool) {
        #expect(Glob(pattern).matches(Array(name.utf8)) == expected)
    }

    @Test("agree with a plain backtracking matcher on all short patterns and names")
    func exhaustive() {
        let patterns = Self.words(over: ["a", "b", "*", "?"], upTo: 4)
        let names = Self.words(over: ["a", "b"], upTo: 4).map { Array($0.utf8) }
        for pattern in patterns {
            let glob = Glob(pattern)
            let bytes = Array(pattern.utf8)[...]
            for name in names where glob.matches(name) != Self.matches(bytes, name[...]) {
                Issue.record("\(pattern) on \(name)")
            }
        }
    }

    @Test("that would explode when tried naively are answered at once")
    func hostile() {
        let pattern = String(repeating: "a*", count: 100) + "b"
        #expect(!Glob(pattern).matches(Array(repeating: UInt8(ascii: "a"), count: 255)))
    }

    private static func words(over letters: [String], upTo length: Int) -> [String] {
        var all = [""]
        var last = [""]
        for _ in 0..<length {
            last = last.flatMap { word in letters.map { word + $0 } }
            all += last
        }
        return all
    }

    private static func matches(_ pattern: ArraySlice<UInt8>, _ name: ArraySlice<UInt8>) -> Bool {
        guard let first = pattern.first else { return name.isEmpty }
        if first == UInt8(ascii: "*") {
            return matches(pattern.dropFirst(), name) || (!name.isEmpty && matches(pattern, name.dropFirst()))
        }
        guard let byte = name.first, first == UInt8(ascii: "?") || first == byte else { return false }
        return matches(pattern.dropFirst(), name.dropFirst())
    }
}

@Suite("Ephemeral names") struct EphemeralNamesTests {
    let names = EphemeralNames()

    @Test(
        "are editors' temporary, swap and lock files",
        arguments: [
            ".a.txt.swp", ".a.swx", "4913", "a~", "#a#", ".#a", ".goutputstream-X1", ".~lock.a.odt#", "~$a.docx",
            "lu1a2b.tmp",
            "a.crdownload", "a.part", ".fuse_hidden0001", ".nfs0001", ".Trash-1000",
        ])
    func ephemeral(name: String) throws { #expect(names.contains(try #require(FileName(name)))) }

    @Test(
        "are not ordinary documents", arguments: ["a.txt", "swp", "49130", "a.tmp", "#a", ".profile", "a.parts", "~a"])
    func ordinary(name: String) throws { #expect(!names.contains(try #require(FileName(name)))) }

    @Test("make all below a directory of such a name ephemeral")
    func below() {
        #expect(names.contains(".Trash-1000/files/a.txt" as RelativePath))
        #expect(!names.contains("Notes/a.txt" as RelativePath))
        #expect(EphemeralNames(patterns: ["*.log"]).contains("a/b.log" as RelativePath))
    }
}
