import Logging
import Synchronization
import QuireCore
import Testing

@testable import QuireIndex

/// What a client makes of a query's changes.
private final class Mirror {
    let query: LiveQuery
    private let wanted: ItemQuery
    private let drive: TestDrive
    private(set) var paths: [ItemID: RelativePath] = [:]

    init(_ live: LiveQueries, _ wanted: ItemQuery, _ drive: TestDrive) async throws {
        self.wanted = wanted
        self.drive = drive
        let (query, found) = try await live.start(wanted)
        self.query = query
        for item in try await drive.index.items(found, matching: nil) { paths[item.id] = item.path }
    }

    /// Takes what is told, and checks that it fits what was told before.
    func update() async throws -> [ItemID: LiveChange] {
        let changes = query.take()
        for (id, change) in changes {
            switch change {
            case .added: #expect(paths[id] == nil)
            case .changed(let from): #expect(paths[id] == from)
            case .removed(let from):
                #expect(paths[id] == from)
                paths[id] = nil
                continue
            }
            paths[id] = try await drive.index.items([id], matching: nil).first?.path
        }
        return changes
    }

    func expectAll(_ what: String) async throws {
        let expected = try await drive.index.find(wanted)
        let known = Dictionary(uniqueKeysWithValues: expected.map { ($0.id, $0.path) })
        #expect(paths == known, "\(what)")
    }
}

private final class Transfers: Sendable {
    let current = Lock<[ItemID: ItemState]>([:])
}

@Suite("Live queries", .timeLimit(.minutes(2)))
struct LiveQueryTests {
    private func with(_ body: (TestDrive, LiveQueries, Transfers) async throws -> Void) async throws {
        try await withDrive { drive in
            let transfers = Transfers()
            let live = LiveQueries(
                drive.index, transfers: { transfers.current.withLock { $0 } },
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            try await body(drive, live, transfers)
        }
    }

    private func settle(_ drive: TestDrive, _ live: LiveQueries) async throws {
        try await drive.index.settle()
        await live.settle()
    }

    private func query(_ text: String, under: RelativePath = .root) throws -> ItemQuery {
        ItemQuery(under: under, predicate: try QueryParser.parse(text))
    }

    @Test("What comes, changes and goes is told once, and nothing else")
    func changes() async throws {
        try await with { drive, live, transfers in
            try drive.create("a.txt", "x")
            let mirror = try await Mirror(live, try query(#"name == "*.txt""#), drive)
            #expect(mirror.paths.values.map(\.self) == ["a.txt"])
            func told() async throws -> [LiveChange] {
                try await settle(drive, live)
                return try await mirror.update().values.map(\.self)
            }
            #expect(try await told() == [])
            try drive.create("b.md", "x")
            #expect(try await told() == [])
            try drive.rename("b.md", "b.txt")
            #expect(try await told() == [.added])
            try drive.write("b.txt", "more")
            #expect(try await told() == [.changed(from: "b.txt")])
            try drive.rename("b.txt", "c.txt")
            #expect(try await told() == [.changed(from: "b.txt")])
            let id = try await drive.item("c.txt").id
            try await drive.index.setTags(id, ["red"])
            #expect(try await told() == [.changed(from: "c.txt")])
            try await drive.index.setTags(id, ["red"])
            #expect(try await told() == [])
            try await drive.index.park(.item(id), message: "no")
            #expect(try await told() == [.changed(from: "c.txt")])
            transfers.current.withLock { $0 = [id: .uploading] }
            live.noteTransfer(of: id)
            #expect(try await told() == [.changed(from: "c.txt")])
            try drive.rename("c.txt", "c.md")
            #expect(try await told() == [.removed(from: "c.txt")])
            try drive.create("d.txt")
            try drive.remove("d.txt")
            #expect(try await told() == [])
            try drive.remove("a.txt")
            #expect(try await told() == [.removed(from: "a.txt")])
            live.stop(mirror.query)
            try drive.create("e.txt")
            #expect(try await told() == [])
        }
    }

    @Test("A document has a conflict as long as there is a copy beside it")
    func conflicts() async throws {
        try await with { drive, live, _ in
            try drive.create("doc", "x")
            let mirror = try await Mirror(live, try query("hasConflicts == true"), drive)
            let copy: RelativePath = "doc (conflicted copy 2026-01-31 from desk)"
            try drive.create(copy, "y")
            try await settle(drive, live)
            #expect(try await mirror.update().values.map(\.self) == [.added, .added])
            try drive.remove(copy)
            try await settle(drive, live)
            #expect(try await mirror.update().count == 2)
            #expect(mirror.paths.isEmpty)
        }
    }

    @Test("A directory that moves takes its results along, into queries and out of them")
    func directories() async throws {
        try await with { drive, live, _ in
            try drive.makeDirectory("in")
            try drive.makeDirectory("out")
            try drive.makeDirectory("out/deep")
            try drive.create("out/deep/a", "x")
            let inside = try await Mirror(live, ItemQuery(under: "in"), drive)
            let everywhere = try await Mirror(live, try query("name == a"), drive)
            let byPath = try await Mirror(live, try query(#"path == "in/*/a""#), drive)
            try drive.rename("out/deep", "in/deep")
            try await settle(drive, live)
            _ = try await inside.update()
            #expect(Set(inside.paths.values) == ["in/deep", "in/deep/a"])
            #expect(try await everywhere.update().values.map(\.self) == [.changed(from: "out/deep/a")])
            #expect(try await byPath.update().values.map(\.self) == [.added])
            try drive.rename("in/deep", "deep")
            try await settle(drive, live)
            _ = try await inside.update()
            #expect(inside.paths.isEmpty)
            #expect(try await byPath.update().values.map(\.self) == [.removed(from: "in/deep/a")])
        }
    }

    @Test("After random operations every query has what a new one finds")
    func random() async throws {
        let seed = UInt64.random(in: 1...1_000_000)
        var dice = Dice(state: seed)
        try await with { drive, live, _ in
            try drive.makeDirectory("dir")
            var mirrors: [Mirror] = []
            for text in [
                "size > 3", #"name == "*a*""#, "dirty == true", "state == conflict || kind == directory",
                #"path == "dir/*""#, "!(size > 3)",
            ] { mirrors.append(try await Mirror(live, try query(text), drive)) }
            mirrors.append(try await Mirror(live, ItemQuery(under: "dir"), drive))
            let names = ["a", "b", "ba", "dir", "a (conflicted copy 2026-01-31 from desk)"]
            func path(_ dice: inout Dice) -> RelativePath {
                var path = RelativePath.root
                for _ in 0..<Int.random(in: 1...3, using: &dice) {
                    path = path.appending(FileName(names.randomElement(using: &dice) ?? "a") ?? "a")
                }
                return path
            }
            for step in 0..<400 {
                let (one, other) = (path(&dice), path(&dice))
                // What cannot be done is not: a name that is not there, a directory that is not empty.
                switch Int.random(in: 0..<8, using: &dice) {
                case 0, 1: _ = try? drive.create(one, "12345")
                case 2: try? drive.makeDirectory(one)
                case 3: try? drive.write(one, String(repeating: "x", count: Int.random(in: 0..<9, using: &dice)))
                case 4: try? drive.remove(one)
                case 5: if drive.status(one) != nil { try? await drive.acknowledge(one) }
                default: try? drive.rename(one, other)
                }
                if Int.random(in: 0..<3, using: &dice) == 0 { try await settle(drive, live) }
                if Int.random(in: 0..<8, using: &dice) == 0, let mirror = mirrors.randomElement(using: &dice) {
                    try await settle(drive, live)
                    _ = try await mirror.update()
                }
                guard step % 20 == 19 else { continue }
                try await settle(drive, live)
                for (number, mirror) in mirrors.enumerated() {
                    _ = try await mirror.update()
                    try await mirror.expectAll("seed \(seed), step \(step), query \(number)")
                }
            }
            #expect(mirrors.contains { !$0.paths.isEmpty })
        }
    }
}
