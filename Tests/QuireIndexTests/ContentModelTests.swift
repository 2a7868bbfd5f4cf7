import Foundation
import QuireCore
import Testing

@testable import QuireIndex

/// What SQL finds by words is what a naive look at each text finds.
@Suite("Words of documents, compared with a naive evaluator", .timeLimit(.minutes(2)))
struct ContentModelTests {
    /// As they stand in a text, and as they are compared.
    private static let words = [
        ("red", "red"), ("Red", "red"), ("reds", "reds"), ("GREEN", "green"), ("blue", "blue"), ("Café", "cafe"),
        ("cafe\u{301}s", "cafes"), ("7", "7"), ("x2", "x2"), ("Ärger", "arger"), ("東", "東"), ("京", "京"),
    ]
    private static let gaps = [" ", " ", "\n", ", ", " - ", "; ", "/", " & "]

    private typealias Text = (written: String, words: [String])

    private static func text(_ count: ClosedRange<Int>, _ random: inout Dice) -> Text {
        var text = Text("", [])
        for _ in 0..<Int.random(in: count, using: &random) {
            guard let (word, folded) = words.randomElement(using: &random) else { continue }
            text.written += word + (gaps.randomElement(using: &random) ?? " ")
            text.words.append(folded)
        }
        return text
    }

    /// An expression, and whether the words of a text fulfil it.
    private typealias Condition = (expression: String, holds: ([String]?, Int) -> Bool)

    private static func comparison(_ random: inout Dice) -> Condition {
        if Int.random(in: 0..<6, using: &random) == 0 {
            let size = Int.random(in: 0..<60, using: &random)
            return ("size > \(size)", { $1 > size })
        }
        let phrase = text(1...3, &random)
        let trimmed = String(
            phrase.written.trimmingPrefix { !$0.isLetter && !$0.isNumber }.reversed().drop {
                !$0.isLetter && !$0.isNumber
            }.reversed())
        let (leading, isPrefix) = (Bool.random(using: &random) ? "*" : "", Bool.random(using: &random))
        let isEqual = Int.random(in: 0..<4, using: &random) > 0
        let modifiers = ["", "c", "d", "cd", "w"].randomElement(using: &random) ?? ""
        let expression = "content \(isEqual ? "==" : "!=") \"\(leading)\(trimmed)\(isPrefix ? "*" : "")\"\(modifiers)"
        return (expression, { words, _ in contains(words, phrase.words, isPrefix) == isEqual })
    }

    private static func contains(_ words: [String]?, _ phrase: [String], _ isPrefix: Bool) -> Bool {
        guard let words, words.count >= phrase.count else { return false }
        return (0...(words.count - phrase.count)).contains { start in
            phrase.indices.allSatisfy { index in
                let word = words[start + index]
                return isPrefix && index == phrase.count - 1 ? word.hasPrefix(phrase[index]) : word == phrase[index]
            }
        }
    }

    private static func condition(_ random: inout Dice, depth: Int = 0) -> Condition {
        guard depth < 3, Int.random(in: 0..<3, using: &random) > 0 else { return comparison(&random) }
        let parts = (0..<Int.random(in: 2...3, using: &random)).map { _ in condition(&random, depth: depth + 1) }
        let (isAny, isNegated) = (Bool.random(using: &random), Int.random(in: 0..<4, using: &random) == 0)
        let inner = "(" + parts.map(\.expression).joined(separator: isAny ? " || " : " && ") + ")"
        return (
            isNegated ? "!" + inner : inner,
            { words, size in
                let holds =
                    isAny ? parts.contains { $0.holds(words, size) } : parts.allSatisfy { $0.holds(words, size) }
                return holds != isNegated
            }
        )
    }

    @Test("Random conditions on random texts, by SQL, and item by item", arguments: [true, false])
    func random(bySQL: Bool) async throws {
        let seed = UInt64.random(in: 1...1_000_000)
        var random = Dice(state: seed)
        let drive = try TestDrive(keepsContent: true)
        defer { drive.remove() }
        var texts: [RelativePath: Text] = [:]
        for number in 0..<120 {
            let path = RelativePath(stringLiteral: "\(number).txt")
            texts[path] = Self.text(0...12, &random)
            try drive.create(path, texts[path]?.written ?? "")
        }
        try drive.create("none.png", "red green blue")
        try await drive.index.settle()
        while true {
            let work = try await drive.index.contentWork(limit: 50) { $0.conforms(to: .text) }
            try await drive.index.noteContent(work.documents.map { ContentReading($0, text: texts[$0.path]?.written) })
            if work.isLast { break }
        }
        let items = try await drive.index.find(ItemQuery())
        #expect(items.count == 121)
        var (pairs, found) = (0, 0)
        for _ in 0..<300 {
            let condition = Self.condition(&random)
            // A part that SQL cannot say has each candidate tested by itself.
            let expression = bySQL ? condition.expression : "(\(condition.expression)) && path == \"*\""
            let query = ItemQuery(predicate: try QueryParser.parse(expression))
            let expected = items.filter { item in
                condition.holds(item.local.size > 0 ? texts[item.path]?.words : nil, Int(item.local.size))
            }
            let result = try await drive.index.find(query)
            #expect(result.map(\.path) == expected.map(\.path), "seed \(seed): \(expression)")
            #expect(try await drive.index.count(query) == expected.count, "seed \(seed): \(expression)")
            pairs += items.count
            found += result.count
        }
        #expect(pairs > 36_000 && found > 3000)
    }
}
