import Foundation
import QuireCore
import Testing

@testable import QuireIndex

@Suite("Query expressions")
struct QueryLanguageTests {
    /// 15 June 2026, 12:00 in a zone two hours ahead of UTC.
    private let clock: QueryClock = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(secondsFromGMT: 7200) ?? .gmt
        return QueryClock(calendar: calendar) { Date(timeIntervalSince1970: 1_781_517_600) }
    }()

    private static let item: [QueryAttribute: QueryValue] = [
        .name: .text([Array("Report Été.TXT".utf8)]), .path: .text([Array("work/Report Été.TXT".utf8)]),
        .size: .number(1_500_000), .modified: .date(FileTime(seconds: 1_781_517_000, nanoseconds: 0)),
        .state: .text([Array("dirty".utf8)]), .tags: .text([Array("red".utf8), Array("blue".utf8)]),
        .dirty: .flag(true), .uploaded: .flag(false),
    ]

    private func matches(_ expression: String, _ item: [QueryAttribute: QueryValue] = item) throws -> Bool {
        try QueryParser.parse(expression, clock: clock).matches { item[$0] }
    }

    @Test(
        "What an item fulfils",
        arguments: [
            #"name == "Report Été.TXT""#, #"name=='Report*'"#, #"kMDItemFSName == "*.TXT""#, #"name == "report*.txt"c"#,
            #"name == "report ete.txt"cd"#, #"name == "Report Ete.TXT"d"#, #"name != "report*""#, #"path == "work/*""#,
            "size > 1MB", "size >= 1500KB && size < 1.5MiB", "InRange(size, 1000, 1.5MB)", "kmditemfssize==1500000",
            "modified >= $time.now(-3600)", "modified > $time.today", "modified < $time.today(1)",
            "modified > 2026-06-15", "modified < 2026-06-16", #"modified < "2026-06-15T10:00:00Z""#,
            "InRange(modified, $time.today(-1), $time.now())", "modified > $time.iso(2026-06-01)",
            "dirty == true && !(uploaded == yes)", "!!dirty = 1", "state == dirty", "state == d*", "tags == blue",
            #"tags != "green""#, "uploaded == true || dirty == true && size > 1", #"name > "A""#, "container != x",
            #"  ( ( size == 1500000 ) )  "#, #"name == "R?port*""#,
        ])
    func fulfilled(expression: String) throws { #expect(try matches(expression)) }

    @Test(
        "What it does not",
        arguments: [
            #"name == "report*""#, #"name == "Report""#, #"name == "Report \*""#, "size < 1500000",
            "InRange(size, 1, 2)",
            "modified > $time.now", "modified < 2026-06-15", "dirty == no", "tags == red && tags == green",
            "container == *", "(uploaded == true || dirty == true) && size < 1", #"name == "report*"d"#,
            #"name == "[R]eport*""#,
        ])
    func unfulfilled(expression: String) throws { #expect(try !matches(expression)) }

    @Test(
        "A wrong expression is told by place and by what could stand there",
        arguments: [
            ("", 1, "an attribute ("), ("colour == red", 1, "an attribute ("), ("name", 5, "==, !="),
            ("name == ", 9, "a text"), ("name == \"a", 11, "\""), ("name == \"a\"x", 9, "c, d or cd"),
            ("size == big", 9, "a number"), ("size == 1QB", 9, "a number"), ("dirty == perhaps", 10, "true or false"),
            ("modified > yesterday", 12, "a date"), ("modified > 2026-02-30", 12, "a date"),
            ("modified > $time.never(1)", 12, "a date"), ("(size > 1", 10, ")"), ("size > 1)", 9, "&&, || or the end"),
            ("size > 1 size", 10, "&&, || or the end"), ("size > 1 &&", 12, "an attribute ("),
            ("InRange(size, 1)", 16, ","), ("size ~ 1", 6, "an attribute, a value"), ("state == new", 10, "a state ("),
            ("size > 1 & size < 2", 10, "an attribute, a value"), ("name < (", 8, "a text"),
        ])
    func wrong(expression: String, position: Int, expected: String) throws {
        let error = #expect(throws: QueryError.self) { _ = try QueryParser.parse(expression, clock: clock) }
        #expect(error?.position == position)
        #expect(error?.expected.hasPrefix(expected) == true, "\(String(describing: error))")
    }

    @Test("An error reads as a sentence")
    func sentence() throws {
        let error = #expect(throws: QueryError.self) { _ = try QueryParser.parse("size > && x", clock: clock) }
        #expect(error?.description == "at 8: expected a number, such as 12, 1.5MB or 2GiB, found \"&&\"")
    }

    @Test("Names that are not UTF-8 are matched by bytes")
    func bytes() throws {
        let item: [QueryAttribute: QueryValue] = [.name: .text([[0x61, 0xFF, 0x42]])]
        #expect(try matches(#"name == "a?B""#, item))
        #expect(try !matches(#"name == "a?b""#, item))
        #expect(try matches(#"name == "a*b"cd"#, item))
    }

    @Test("Every character of a name can be asked for literally")
    func literally() throws {
        let item: [QueryAttribute: QueryValue] = [.name: .text([Array(#"a*"b"\?"#.utf8)])]
        #expect(try matches(#"name == "a\*\"b\"\\\?""#, item))
        #expect(try !matches(#"name == "ax\"b\"\\\?""#, item))
    }

    @Test("Deep nesting is an error, and long expressions and patterns take their time only")
    func hostile() throws {
        let deep = String(repeating: "(", count: 10_000) + "size > 1" + String(repeating: ")", count: 10_000)
        #expect(throws: QueryError.self) { _ = try QueryParser.parse(deep, clock: clock) }
        let negated = String(repeating: "!", count: 10_000) + "size > 1"
        #expect(throws: QueryError.self) { _ = try QueryParser.parse(negated, clock: clock) }
        let long = Array(repeating: "size > 1", count: 50_000).joined(separator: " && ")
        #expect(try matches(long))
        let bomb = #"name == ""# + String(repeating: "*a", count: 2_000) + #"*""#
        #expect(try !matches(bomb, [.name: .text([[UInt8](repeating: 0x61, count: 255)])]))
    }

    /// `QUIRE_FUZZ_INPUTS` chooses longer runs: `make fuzz`.
    @Test("Any characters are read or refused")
    func fuzz() {
        let inputs = ProcessInfo.processInfo.environment["QUIRE_FUZZ_INPUTS"].flatMap { Int($0) } ?? 50_000
        let pieces = [
            "name", "size", "modified", "==", "=", "!", "!=", "<", ">=", "&&", "||", "(", ")", ",", "\"", "'", "\\",
            "*", "?",
            "1", "MB", "$time.now", "$time.today", "InRange", "true", "é", "\u{0}", " ", "c", "d", "-", "2026-01-31",
            "&", "🙂",
        ]
        var random = SystemRandomNumberGenerator()
        var read = 0
        for _ in 0..<inputs {
            let count = Int.random(in: 0...12, using: &random)
            let text = (0..<count).compactMap { _ in pieces.randomElement(using: &random) }.joined()
            do {
                _ = try QueryParser.parse(text, clock: clock).matches { Self.item[$0] }
                read += 1
            } catch {
                #expect(error.position >= 1 && error.position <= text.count + 1, "\(text)")
            }
        }
        #expect(read > 0)
    }
}
