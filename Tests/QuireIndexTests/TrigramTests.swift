import QuireCore
import Testing

@testable import QuireIndex

@Suite("Parts of names")
struct TrigramTests {
    @Test("what is looked up of a pattern is what the fewest names of the sample have")
    func rarest() {
        let names = ["report 17.pdf", "report 18.pdf", "letter 17.pdf"].map { Array($0.utf8) }
        let frequencies = TrigramFrequencies(names: names)
        #expect(frequencies.rarePair(of: [Array("report 18".utf8)]).map(\.quoted) == ["\" 18\"", "\"rep\""])
        #expect(NameSearch.match([Array("letter".utf8)], .unknown) == "\"let\" AND \"ter\"")
        #expect(NameSearch.match([Array("a\"b".utf8)], .unknown) == "\"a\"\"b\"")
        #expect(frequencies.rarePair(of: [Array("pdf".utf8), Array("pdf".utf8)]).count == 1)
    }

    @Test("what an index tells of its names, it tells anew when there are many more")
    func sample() async throws {
        try await withDrive { drive in
            func rarest() async throws -> [String] {
                try await drive.index.settle()
                return try await drive.index.read("a sample") { [trigrams = drive.index.trigrams] db in
                    try trigrams.frequencies(db).rarePair(of: [Array("bay window".utf8)]).prefix(1).map(\.quoted)
                }
            }
            for number in 0..<10 { try drive.create(#require(RelativePath(parsing: "bay \(number)")), "x") }
            #expect(try await rarest() == ["\"y w\""])
            for number in 0..<100 { try drive.create(#require(RelativePath(parsing: "y window \(number)")), "x") }
            #expect(try await rarest() == ["\"bay\""])
        }
    }

    @Test("a quick decision is the decision of the pattern")
    func quick() {
        let letters = ["a", "A", "b", "é", "*", "*", "?", "\\", "[", "ab", "bab"]
        let names = [
            "", "a", "A", "ab", "aB", "bab", "abab", "é", "éab", "bAb?", "\\a", "[ab", "a*b", "abé", "K", "\u{212A}",
        ]
        var random = Dice(state: 1)
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 1...5, using: &random)).map { _ in
                letters.randomElement(using: &random) ?? "a"
            }.joined()
            let (cases, marks) = (Bool.random(using: &random), Bool.random(using: &random))
            let pattern = TextPattern(text, ignoresCase: cases, ignoresDiacritics: marks)
            guard let quick = QuickMatch(text, hasSets: false, ignoresCase: cases, ignoresDiacritics: marks) else {
                continue
            }
            for name in names {
                let bytes = Array(name.utf8)
                if let decision = bytes.withUnsafeBytes({ quick.decision($0) }) {
                    #expect(decision == pattern.matches(bytes), "\(text) \(name) \(cases) \(marks)")
                }
            }
        }
    }
}
