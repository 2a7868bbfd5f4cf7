import QuireCore
@testable import QuireSync
import QuireTestSupport
import Testing

/// Names and kinds, nothing else: what the provider does with the steps.
private struct NameTree {
    var kinds: [RelativePath: FileKind] = [:]
    var failures: [String] = []

    mutating func create(_ path: RelativePath, _ kind: FileKind) {
        if kinds[path] != nil { failures.append("\(path) is taken") }
        if let parent = path.parent, !parent.isRoot, kinds[parent] != .directory {
            failures.append("\(path) has no parent")
        }
        kinds[path] = kind
    }

    mutating func move(_ from: RelativePath, _ to: RelativePath) {
        if kinds[from] == nil { failures.append("\(from) is not there") }
        if to.isInside(from) { failures.append("\(from) would be inside itself") }
        let moved = kinds.filter { $0.key.isInside(from) }
        for path in moved.keys { kinds[path] = nil }
        for (path, kind) in moved.sorted(by: { $0.key.bytes.count < $1.key.bytes.count }) {
            create(path.removing(ancestor: from).map(to.appending) ?? path, kind)
        }
    }

    mutating func delete(_ path: RelativePath) {
        if kinds.removeValue(forKey: path) == nil { failures.append("\(path) is not there") }
        if kinds.keys.contains(where: { $0.isInside(path) }) { failures.append("\(path) is not empty") }
    }

    mutating func apply(_ step: PushOrder.Step, _ items: [PushItem]) {
        switch step {
        case .createDirectory(_, let path): create(path, .directory)
        case .move(_, let from, let to, _): move(from, to)
        case .send(let item, let path, let over):
            if let over, kinds.removeValue(forKey: path) != items[over].kind { failures.append("\(path) is not there") }
            if items[item].base == nil { create(path, items[item].kind) }
        case .delete(_, let path): delete(path)
        }
    }
}

@Suite struct PushOrderTests {
    private func run(_ items: [PushItem], _ directories: [RelativePath: RelativePath], _ tree: inout NameTree) {
        let order = PushOrder(items, directories: directories, temporaryName: ".tmp")
        for step in order.structure + order.content + order.deletions.flatMap(\.self) { tree.apply(step, items) }
    }

    @Test("What a move has left at a name between two places leaves a directory that makes room for another")
    func leftInTransit() {
        let a: RelativePath = "a"
        let between = a.appending(TransitName.make())
        let items = [
            PushItem(kind: .directory, base: "a", local: nil, isMoved: false, isChanged: false),
            PushItem(kind: .file, base: between, local: "a/y", isMoved: true, isChanged: false),
            PushItem(kind: .directory, base: nil, local: "a", isMoved: false, isChanged: true),
        ]
        var tree = NameTree(kinds: ["a": .directory, between: .file])
        run(items, [:], &tree)
        #expect(tree.failures == [])
        #expect(tree.kinds == ["a": .directory, "a/y": .file])
    }

    @Test("A directory and one inside it that swapped places stay below the directory in which they are")
    func turnedInsideOut() {
        let items = [
            PushItem(kind: .directory, base: "d/a", local: "d/a/b", isMoved: true, isChanged: false),
            PushItem(kind: .directory, base: "d/a/b", local: "d/a", isMoved: true, isChanged: false),
        ]
        let directories: [RelativePath: RelativePath] = ["d": "d", "d/a": "d/a/b"]
        let order = PushOrder(items, directories: directories, temporaryName: ".tmp")
        for case .move(_, _, let to, _) in order.structure { #expect(to.isInside("d")) }
        var tree = NameTree(kinds: ["d": .directory, "d/a": .directory, "d/a/b": .directory])
        run(items, directories, &tree)
        #expect(tree.failures.isEmpty)
        #expect(tree.kinds == ["d": .directory, "d/a": .directory, "d/a/b": .directory])
    }

    @Test("Two files that swapped names reach the provider through a temporary name")
    func ring() {
        let items = [
            PushItem(kind: .file, base: "a", local: "b", isMoved: true, isChanged: false),
            PushItem(kind: .file, base: "b", local: "a", isMoved: true, isChanged: false),
        ]
        var tree = NameTree(kinds: ["a": .file, "b": .file])
        run(items, [:], &tree)
        #expect(tree.failures.isEmpty)
        #expect(tree.kinds == ["a": .file, "b": .file])
        #expect(PushOrder(items, directories: [:], temporaryName: ".tmp").structure.count == 3)
    }

    @Test("A deleted item makes room before another is moved into its place")
    func replacedByMove() {
        let items = [
            PushItem(kind: .file, base: "a", local: nil, isMoved: false, isChanged: false),
            PushItem(kind: .file, base: "b", local: "a", isMoved: true, isChanged: true),
        ]
        let order = PushOrder(items, directories: [:], temporaryName: ".tmp")
        #expect(order.structure == [.delete(item: 0, at: "a"), .move(item: 1, from: "b", to: "a", isFinal: true)])
        #expect(order.content == [.send(item: 1, at: "a", over: nil)])
        #expect(order.deletions.isEmpty)
    }

    @Test("A file in a directory whose move is not sent goes where the provider has the directory")
    func parentElsewhere() {
        let items = [PushItem(kind: .file, base: nil, local: "new/doc", isMoved: false, isChanged: true)]
        let order = PushOrder(items, directories: ["new": "old"], temporaryName: ".tmp")
        #expect(order.content == [.send(item: 0, at: "old/doc", over: nil)])
    }

    @Test("Any reshaping of a tree can be sent in the order found", arguments: 0..<1000)
    func reshaping(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        var local = LocalShape(random: &random)
        let before = local.tree
        for _ in 0..<Int.random(in: 1...12, using: &random) { local.change(&random) }
        let items = local.items()
        var tree = before
        run(items, local.directories(), &tree)
        #expect(tree.failures.isEmpty, "seed \(seed): \(items)")
        #expect(tree.kinds == local.tree.kinds, "seed \(seed)")
    }
}

/// A tree whose entries remember where the provider has them.
private struct LocalShape {
    struct Entry {
        var kind: FileKind
        var base: RelativePath?
        var parent: Int?
        var name: FileName
        var baseParent: Int?
        var baseName: FileName
        var isDeleted = false
    }

    var entries: [Entry] = []
    private static let names: [FileName] = ["a", "b", "c"]

    init(random: inout SeededRandom) {
        for _ in 0..<10 { create(&random) }
        for index in entries.indices {
            entries[index].base = path(index)
            entries[index].baseParent = entries[index].parent
            entries[index].baseName = entries[index].name
        }
    }

    func path(_ index: Int) -> RelativePath {
        let entry = entries[index]
        return (entry.parent.map(path) ?? .root).appending(entry.name)
    }

    var tree: NameTree {
        var tree = NameTree()
        for index in entries.indices where !entries[index].isDeleted { tree.kinds[path(index)] = entries[index].kind }
        return tree
    }

    private func parents() -> [Int?] {
        [nil] + entries.indices.filter { entries[$0].kind == .directory && !entries[$0].isDeleted }
    }

    private func isFree(_ parent: Int?, _ name: FileName) -> Bool {
        !entries.contains { !$0.isDeleted && $0.parent == parent && $0.name == name }
    }

    private mutating func create(_ random: inout SeededRandom) {
        guard let parent = parents().randomElement(using: &random), let name = Self.names.randomElement(using: &random),
            isFree(parent, name)
        else { return }
        let kind: FileKind = Bool.random(using: &random) ? .directory : .file
        entries.append(Entry(kind: kind, base: nil, parent: parent, name: name, baseParent: nil, baseName: name))
    }

    private func isInside(_ index: Int?, _ ancestor: Int) -> Bool {
        guard let index else { return false }
        return index == ancestor || isInside(entries[index].parent, ancestor)
    }

    private mutating func remove(_ index: Int) {
        for child in entries.indices where !entries[child].isDeleted && entries[child].parent == index { remove(child) }
        entries[index].isDeleted = true
    }

    mutating func change(_ random: inout SeededRandom) {
        let alive = entries.indices.filter { !entries[$0].isDeleted }
        switch Int.random(in: 0..<4, using: &random) {
        case 0: create(&random)
        case 1: if let index = alive.randomElement(using: &random) { remove(index) }
        default:
            guard let index = alive.randomElement(using: &random), let parent = parents().randomElement(using: &random),
                let name = Self.names.randomElement(using: &random), !isInside(parent, index)
            else { return }
            if let other = alive.first(where: { entries[$0].parent == parent && entries[$0].name == name }) {
                if other == index || isInside(index, other) { return }
                if Bool.random(using: &random), !isInside(parent, other), !isInside(entries[index].parent, other) {
                    (entries[other].parent, entries[other].name) = (entries[index].parent, entries[index].name)
                    if isInside(other, other) && isInside(entries[other].parent, other) { return }
                } else {
                    remove(other)
                }
            }
            entries[index].parent = parent
            entries[index].name = name
        }
    }

    func items() -> [PushItem] {
        entries.indices.compactMap { index in
            let entry = entries[index]
            if entry.isDeleted {
                return entry.base.map {
                    PushItem(kind: entry.kind, base: $0, local: nil, isMoved: false, isChanged: false)
                }
            }
            let isMoved = entry.base != nil && (entry.parent != entry.baseParent || entry.name != entry.baseName)
            if entry.base != nil, !isMoved { return nil }
            return PushItem(
                kind: entry.kind, base: entry.base, local: path(index), isMoved: isMoved, isChanged: entry.base == nil)
        }
    }

    func directories() -> [RelativePath: RelativePath] {
        var found: [RelativePath: RelativePath] = [:]
        for index in entries.indices where !entries[index].isDeleted && entries[index].kind == .directory {
            if let base = entries[index].base { found[path(index)] = base }
        }
        return found
    }
}
