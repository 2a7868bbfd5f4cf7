import Foundation
import Testing

@testable import QuireCore

@Suite("MIME database") struct MimeDatabaseTests {
    @Test("names are known by weight, then length, then case")
    func names() throws {
        let fixture = try MimeFixture()
        let catalog = MimeFixture.catalog(
            try fixture.directory(
                "a",
                globs: """
                    # a comment
                    50:text/x-csrc:*.c
                    50:text/x-c++src:*.C:cs
                    50:application/gzip:*.gz
                    50:application/x-compressed-tar:*.tar.gz
                    60:text/x-special:special.*
                    10:text/x-readme:readme*
                    50:text/x-makefile:makefile
                    50:application/x-sharedlib:*.so.[0-9]*
                    50:application/x-trash:*~
                    50:application/x-core:core:cs
                    50:IMAGE/X-LOUD:*.LOUD
                    """))
        #expect(catalog.identifier("main.c") == "public.c-source")
        #expect(catalog.identifier("main.C") == "public.c-plus-plus-source")
        #expect(catalog.identifier("a.gz") == "org.gnu.gnu-zip-archive")
        #expect(catalog.identifier("a.TAR.gz") == "org.gnu.gnu-zip-tar-archive")
        #expect(catalog.identifier("special.tar.gz") == "dyn.mime.text.x-special")
        #expect(catalog.identifier("README") == "dyn.mime.text.x-readme")
        #expect(catalog.identifier("README.gz") == "org.gnu.gnu-zip-archive")
        #expect(catalog.identifier("Makefile") == "public.make-source")
        #expect(catalog.identifier("libx.so.6.1") == "public.object-code")
        #expect(catalog.identifier("libx.so.x") == nil)
        #expect(catalog.identifier("core") == "dyn.mime.application.x-core")
        #expect(catalog.identifier("Core") == nil)
        #expect(catalog.identifier("old.c~") == "dyn.mime.application.x-trash")
        #expect(catalog.identifier("a.loud") == "dyn.mime.image.x-loud")
        // What the database says nothing of is known as without one.
        #expect(catalog.identifier("a.swift") == "public.swift-source")
    }

    @Test("a MIME type that nothing is declared for conforms to its parents, and to what its name says")
    func conformance() throws {
        let fixture = try MimeFixture()
        let catalog = MimeFixture.catalog(
            try fixture.directory(
                "a", globs: "50:text/x-child:*.child\n50:application/x-form+xml:*.form\n50:image/x-raw:*.raw1\n",
                subclasses: "text/x-child text/x-alias\nimage/x-raw image/x-dcraw\nimage/x-raw image/tiff\n",
                aliases: "text/x-alias text/html\n"))
        #expect(catalog.tree(try #require(catalog.identifier("a.child"))).contains("public.html"))
        #expect(catalog.tree(try #require(catalog.identifier("a.form"))).contains("public.xml"))
        let raw = catalog.tree(try #require(catalog.identifier("a.raw1")))
        #expect(raw.contains("public.camera-raw-image") && raw.contains("public.tiff"))
        #expect(catalog.type(mime: "Text/X-Alias")?.identifier == "public.html")
        #expect(catalog.type(mime: "nonsense") == nil)
        #expect(catalog.type(extension: "RAW1")?.identifier == "dyn.mime.image.x-raw")
    }

    @Test("of several patterns of one extension, the declared type that has it counts")
    func ties() throws {
        let fixture = try MimeFixture()
        let catalog = MimeFixture.catalog(
            try fixture.directory("a", globs: "50:text/x-matlab:*.m\n50:text/x-objcsrc:*.m\n50:image/heif:*.heic\n"))
        #expect(catalog.identifier("a.m") == "public.objective-c-source")
        // One MIME type, two uniform ones: the extension tells which.
        #expect(catalog.identifier("a.heic") == "public.heic")
    }

    @Test("the user's directory counts more than the system's, and may void what that says")
    func layers() throws {
        let fixture = try MimeFixture()
        let magic = MagicBytes.file(("image/x-magic", 50, [MagicBytes.rule([1, 2, 3])]))
        let void = MagicBytes.file(("image/x-magic", 50, [MagicBytes.rule(Array("__NOMAGIC__".utf8))]))
        let user = try fixture.directory(
            "user", globs: "50:text/x-mine:*.foo\n50:text/x-theirs:__NOGLOBS__\n", magic: void)
        let system = try fixture.directory(
            "system", globs: "50:text/x-system:*.foo\n50:text/x-theirs:*.bar\n50:text/x-else:*.baz", magic: magic)
        let catalog = MimeFixture.catalog(user, system)
        #expect(catalog.identifier("a.foo") == "dyn.mime.text.x-mine")
        #expect(catalog.identifier("a.bar") == nil)
        #expect(catalog.identifier("a.baz") == "dyn.mime.text.x-else")
        let alone = MimeFixture.catalog(system)
        #expect(alone.identifier(content: [1, 2, 3]) == "dyn.mime.image.x-magic")
        #expect(catalog.identifier(content: [1, 2, 3]) == "public.data")
        #expect(catalog.database.signature != alone.database.signature)
        #expect(catalog.database.directories == [user, system])
    }

    @Test("types that are their own parents, long lines and bytes without sense do no harm")
    func hostile() throws {
        let fixture = try MimeFixture()
        let patterns = (0..<3000).map { "50:text/x-\($0):*a*b*c\($0)*" }.joined(separator: "\n")
        let chain = (0..<3000).map { "text/x-\($0) text/x-\($0 + 1)" }.joined(separator: "\n")
        let catalog = MimeFixture.catalog(
            try fixture.directory(
                "a",
                globs: "50:a/b:*.ab\n50:c/d:*.cd\n:::\n99999999999999999999:x/y:*.z\n50:x:*.x\n50:a/b:\n50:a/b:[\n"
                    + "50:a/b:" + String(repeating: "*a", count: 2000) + "\n" + patterns,
                subclasses: "a/b c/d\nc/d a/b\na/b a/b\n" + chain))
        #expect(catalog.tree(try #require(catalog.identifier("x.ab"))).contains("public.data"))
        #expect(catalog.tree(try #require(catalog.identifier("x.cd"))).contains("public.data"))
        let start = ContinuousClock.now
        for _ in 0..<100 { #expect(catalog.identifier(String(repeating: "ab", count: 127) + "x") == nil) }
        #expect(ContinuousClock.now - start < .seconds(20))
    }

    @Test("where directories lie: the user's first, absolute ones only")
    func directories() {
        func directories(_ environment: [String: String]) -> [String] {
            MimeDatabaseReader.directories { environment[$0] }
        }
        #expect(
            directories(["HOME": "/h"]) == ["/h/.local/share/mime", "/usr/local/share/mime", "/usr/share/mime"])
        #expect(
            directories(["HOME": "/h", "XDG_DATA_HOME": "/d", "XDG_DATA_DIRS": "/x:rel:/y/"])
                == ["/d/mime", "/x/mime", "/y/mime"])
        #expect(
            directories(["XDG_DATA_HOME": "rel", "XDG_DATA_DIRS": ""]) == ["/usr/local/share/mime", "/usr/share/mime"])
    }

    @Test("any name has the type that trying all patterns one by one gives")
    func model() {
        var random = SystemRandomNumberGenerator()
        let seed = UInt64.random(in: 0...UInt64.max, using: &random)
        var generator = SplitMix(state: seed)
        let letters = Array("aAbB.~".utf8)
        func word(_ lengths: ClosedRange<Int>) -> [UInt8] {
            (0..<Int.random(in: lengths, using: &generator)).map { _ in letters.randomElement(using: &generator) ?? 0x61
            }
        }
        for _ in 0..<200 {
            let patterns = (0..<12).map { number -> NameTable.Pattern in
                let isCaseSensitive = Bool.random(using: &generator)
                let form = Int.random(in: 0..<4, using: &generator)
                var glob = word(1...3)
                if form == 0 { glob = Array("*.".utf8) + glob }
                if form == 1 { glob = Array("*".utf8) + glob }
                if form == 2 { glob += Array("*".utf8) }
                return NameTable.Pattern(
                    glob: isCaseSensitive ? glob : glob.map(\.asciiLowercased), isCaseSensitive: isCaseSensitive,
                    // All different, so that one is the best.
                    weight: number * 8, value: number)
            }
            let table = NameTable(patterns.reversed())
            for _ in 0..<200 {
                let name = word(1...6)
                let expected = patterns.last { pattern in
                    Glob(String(decoding: pattern.glob, as: UTF8.self))
                        .matches(pattern.isCaseSensitive ? name : name.map(\.asciiLowercased))
                }
                #expect(
                    table.value(of: name) == expected?.value,
                    "seed \(seed), \(String(decoding: name, as: UTF8.self)), \(patterns)")
            }
        }
    }
}

/// A generator with a seed.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
