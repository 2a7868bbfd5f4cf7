import Foundation
import QuireCore
import Testing

@testable import QuireIndex

/// What SQL finds is what the naive test of each item finds.
@Suite("Queries in SQL", .timeLimit(.minutes(2)))
struct QueryCompilerTests {
    private static let letters = [
        "a", "b", "re", "Rep", "port", "é", "É", "e\u{301}", "ß", "-", " ", ".txt", "\"", "%", "x'",
    ]

    private static func name(_ random: inout Dice) -> String {
        (0..<Int.random(in: 1...5, using: &random)).map { _ in letters.randomElement(using: &random) ?? "a" }.joined()
    }

    private static func literal(_ random: inout Dice) -> String {
        var text = ""
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            text += ["*", "?", "\\\\", "", "", ""].randomElement(using: &random) ?? ""
            text += (letters.randomElement(using: &random) ?? "a").replacing("\"", with: "\\\"")
        }
        return "\"" + text + "\"" + (["", "", "c", "d", "cd"].randomElement(using: &random) ?? "")
    }

    /// A drive of files with random names, sizes, times, tags, marks and states.
    private static func fill(_ drive: TestDrive, _ random: inout Dice) async throws {
        var directories: [RelativePath] = [.root]
        var files: [RelativePath] = []
        for _ in 0..<220 {
            let parent = directories.randomElement(using: &random) ?? .root
            guard let name = FileName(name(&random)) else { continue }
            let path = parent.appending(name)
            if drive.status(path) != nil { continue }
            drive.clock.advance(seconds: 30)
            if Int.random(in: 0..<8, using: &random) == 0 {
                try drive.makeDirectory(path)
                directories.append(path)
            } else {
                try drive.create(path, String(repeating: "x", count: Int.random(in: 0..<40, using: &random)))
                files.append(path)
            }
        }
        try drive.create("temporary.swp", "x")
        try drive.create(".x.swp", "x")
        for path in files where Int.random(in: 0..<2, using: &random) == 0 { try await drive.acknowledge(path) }
        for path in files where Int.random(in: 0..<6, using: &random) == 0 { try drive.write(path, "other") }
        for path in files.shuffled(using: &random).prefix(30) {
            let id = try await drive.item(path).id
            switch Int.random(in: 0..<4, using: &random) {
            case 0: try await drive.index.setTags(id, ["red", "a b"].shuffled(using: &random).dropLast() + ["blue"])
            case 1: try await drive.index.setPinned(id, true)
            case 2: try await drive.index.park(.item(id), message: "no")
            default:
                guard
                    let copy = ConflictName.candidates(
                        original: path.name ?? "x", date: "2026-01-31", device: "desk"
                    ).first(where: { _ in true })
                else { continue }
                try drive.create((path.parent ?? .root).appending(copy), "copy")
            }
        }
    }

    private static func comparison(_ random: inout Dice, _ items: [IndexItem]) -> String {
        let attribute = QueryAttribute.allCases.randomElement(using: &random) ?? .name
        let operation = QueryComparison.allCases.randomElement(using: &random) ?? .equal
        let item = items.randomElement(using: &random)
        switch attribute.kind {
        case .number:
            let number = Int.random(in: 0..<45, using: &random)
            return Bool.random(using: &random)
                ? "size \(operation.rawValue) \(number)" : "InRange(size, \(number), \(number + 5))"
        case .date:
            let time = item?.local.mtime.seconds ?? 0
            let date = Date(timeIntervalSince1970: Double(time)).formatted(.iso8601)
            return "\(attribute.rawValue) \(operation.rawValue) \(date)"
        case .flag: return "\(attribute.rawValue) \(operation.rawValue) \(Bool.random(using: &random))"
        case .words:
            return
                "content \(Bool.random(using: &random) ? "==" : "!=") \(["x", "xx*", "other"].randomElement(using: &random) ?? "x")"
        case .text where attribute == .state:
            return
                "state \(operation.rawValue) \(ItemState.allCases.randomElement(using: &random)?.rawValue ?? "dirty")"
        case .text where attribute == .tags:
            return "tags \(operation.rawValue) \(["red", "\"B*\"c", "green", "*"].randomElement(using: &random) ?? "x")"
        case .text where Bool.random(using: &random):
            let name = String(decoding: item?.path.name?.bytes ?? [], as: UTF8.self)
            let text = (attribute == .path ? String(decoding: item?.path.bytes ?? [], as: UTF8.self) : name)
                .replacing("\"", with: "\\\"")
            return "\(attribute.rawValue) \(operation.rawValue) \"\(text)\"\(Bool.random(using: &random) ? "c" : "")"
        case .text: return "\(attribute.rawValue) \(operation.rawValue) \(literal(&random))"
        }
    }

    private static func expression(_ random: inout Dice, _ items: [IndexItem], depth: Int = 0) -> String {
        guard depth < 4, Int.random(in: 0..<3, using: &random) > 0 else { return comparison(&random, items) }
        let parts = (0..<Int.random(in: 1...3, using: &random)).map { _ in
            expression(&random, items, depth: depth + 1)
        }
        let inner = "(" + parts.joined(separator: Bool.random(using: &random) ? " && " : " || ") + ")"
        return Bool.random(using: &random) ? "!" + inner : inner
    }

    @Test("Random conditions on random items", arguments: [true, false])
    func random(namesIndexed: Bool) async throws {
        let seed = UInt64.random(in: 1...1_000_000)
        var random = Dice(state: seed)
        try await withDrive(keepsContent: true) { drive in
            try await Self.fill(drive, &random)
            try await drive.index.settle()
            if namesIndexed { try await drive.index.namesIndexed() }
            try await drive.index.typesNoted()
            let items = try await drive.index.find(ItemQuery())
            #expect(items.count > 150)
            var pairs = 0
            var found = 0
            for _ in 0..<300 {
                let text = Self.expression(&random, items)
                var query = ItemQuery(predicate: try QueryParser.parse(text))
                if Int.random(in: 0..<4, using: &random) == 0 {
                    query.under =
                        items.filter { $0.local.kind == .directory }.randomElement(using: &random)?.path
                        ?? RelativePath.root
                }
                if Int.random(in: 0..<5, using: &random) == 0 {
                    query.nameGlob = Glob(
                        ["*", "*[ab]*", "*port*", "re*", "*.txt"].randomElement(using: &random) ?? "*")
                }
                if Int.random(in: 0..<5, using: &random) == 0, let item = items.randomElement(using: &random) {
                    query.transfers = [item.id: .uploading]
                }
                let expected = items.filter { item in
                    item.path.isBelow(query.under) && query.matches(item)
                }
                let result = try await drive.index.find(query)
                #expect(result.map(\.path) == expected.map(\.path), "seed \(seed): \(text) \(query.under)")
                #expect(try await drive.index.count(query) == expected.count, "seed \(seed): \(text)")
                pairs += items.count
                found += result.count
            }
            #expect(pairs >= 45_000 && found > 1000)
        }
    }

    @Test("Results are ordered, and the first of them are the first in order")
    func order() async throws {
        var random = Dice(state: 7)
        try await withDrive { drive in
            try await Self.fill(drive, &random)
            try await drive.index.settle()
            let order = [QueryOrder(.size, isDescending: true), QueryOrder(.name)]
            var (all, first) = ([IndexItem](), [IndexItem]())
            // Which types files have by content is noted by another thread meanwhile, once of each: of one state.
            repeat {
                all = try await drive.index.find(ItemQuery(order: order))
                first = try await drive.index.find(ItemQuery(limit: 5, order: order))
            } while try await drive.index.find(ItemQuery(order: order)) != all
            for (one, next) in zip(all, all.dropFirst()) {
                let sizes = [one, next].map { $0.local.kind == .directory ? -1 : $0.local.size }
                #expect(sizes[0] >= sizes[1])
                if sizes[0] == sizes[1] {
                    let names = [one, next].map { $0.path.name?.bytes ?? [] }
                    #expect(!names[1].lexicographicallyPrecedes(names[0]))
                }
            }
            #expect(first == Array(all.prefix(5)))
            #expect(try await drive.index.search(ItemQuery(), first: 3).ids.count == all.count)
        }
    }

    @Test("What cannot be SQL is tested item by item: long and deep conditions")
    func bounds() async throws {
        try await withDrive { drive in
            try drive.create("a", "x")
            try drive.create("b", "xyz")
            try await drive.index.settle()
            let long = Array(repeating: "size > 1", count: 2000).joined(separator: " && ")
            let deep = String(repeating: "!(", count: 240) + "size > 1" + String(repeating: ")", count: 240)
            for text in [long, deep] {
                let found = try await drive.index.find(ItemQuery(predicate: try QueryParser.parse(text)))
                #expect(found.map(\.path) == ["b"])
            }
        }
    }

    @Test("Names are found by their parts through every change, before and after they are indexed")
    func names() async throws {
        try await withDrive { drive in
            func found(_ text: String) async throws -> [RelativePath] {
                try await drive.index.settle()
                return try await drive.index.find(ItemQuery(predicate: try QueryParser.parse(text))).map(\.path)
            }
            try drive.create("Quarterly Report.txt")
            try drive.create("other.txt")
            for isIndexed in [false, true, true] {
                if isIndexed { try await drive.index.namesIndexed() }
                #expect(try await found(#"name == "*REPORT*"c"#) == ["Quarterly Report.txt"])
                #expect(try await found(#"name == "*report*""#) == [])
            }
            try drive.rename("Quarterly Report.txt", "Zürich.txt")
            for isIndexed in [false, true] {
                if isIndexed { try await drive.index.namesIndexed() }
                #expect(try await found(#"name == "*report*"c"#) == [])
                #expect(try await found(#"name == "zurich*"cd"#) == ["Zürich.txt"])
            }
            try drive.remove("Zürich.txt")
            for isIndexed in [false, true] {
                if isIndexed { try await drive.index.namesIndexed() }
                #expect(try await found(#"name == "*rich*""#) == [])
                #expect(try await found(#"name == "*.txt""#) == ["other.txt"])
            }
        }
    }
}
