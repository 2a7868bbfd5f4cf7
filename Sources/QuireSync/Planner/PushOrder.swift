package import QuireCore

/// A local difference from the base that waits to be sent.
package struct PushItem: Sendable, Hashable {
    package var kind: FileKind
    /// Where the provider has it; nil for what is new.
    package var base: RelativePath?
    /// Where it is here, below the container's root; nil for what was deleted.
    package var local: RelativePath?
    /// It lies in another directory than the base's, or has another name.
    package var isMoved: Bool
    /// Content or attributes differ.
    package var isChanged: Bool

    package init(kind: FileKind, base: RelativePath?, local: RelativePath?, isMoved: Bool, isChanged: Bool) {
        self.kind = kind
        self.base = base
        self.local = local
        self.isMoved = isMoved
        self.isChanged = isChanged
    }
}

/// The order in which local differences can be sent, so that no step finds its parent missing or its place taken.
///
/// ```
/// 1. structure, one after the other: directories are created parents first; a move comes after whatever makes its new
///    parent, and after whatever leaves its new place; a place taken by a deleted item is cleared first; a ring of moves is
///    opened by moving one that is in another's way to a temporary name. What is at such a name is in nobody's way.
/// 2. content and attributes, all at once.
/// 3. deletions, deepest first; those of one depth all at once.
/// ```
/// Pure. Paths in the steps are the provider's, as they are when all steps before were done.
package struct PushOrder: Sendable {
    /// A step; `item` counts in the given array.
    package enum Step: Sendable, Hashable {
        case createDirectory(item: Int, at: RelativePath)
        /// `isFinal` is false for the move to a temporary name.
        case move(item: Int, from: RelativePath, to: RelativePath, isFinal: Bool)
        /// `over`: a deleted item whose place this one takes, replaced in one step instead of deleted before.
        case send(item: Int, at: RelativePath, over: Int?)
        case delete(item: Int, at: RelativePath)

        package var item: Int {
            switch self {
            case .createDirectory(let item, _), .move(let item, _, _, _), .send(let item, _, _), .delete(let item, _):
                item
            }
        }
    }

    package private(set) var structure: [Step] = []
    package private(set) var content: [Step] = []
    /// One array for each depth, deepest first.
    package private(set) var deletions: [[Step]] = []

    private let items: [PushItem]
    private let temporaryName: FileName
    /// Provider paths of directories here, by local path: of those with a base, and of those created on the way.
    private var directories: [RelativePath: RelativePath]
    /// Present provider path of each item that has one.
    private var present: [RelativePath?]
    /// Items whose structural step is still to be done.
    private var open: [Int] = []
    /// Items at provider paths that they will leave: moves to be done, deletions to be done.
    private var leaving: [RelativePath: Int] = [:]
    private var deleted: Set<Int> = []

    /// - Parameters:
    ///   - directories: the provider's path of each directory here that has a base, by local path; at least of those in
    ///     which an item lies.
    ///   - temporaryName: for opening rings; different every time.
    package init(
        _ items: [PushItem], directories: [RelativePath: RelativePath], temporaryName: FileName
    ) {
        self.items = items
        self.directories = directories
        self.temporaryName = temporaryName
        present = items.map(\.base)
        open = items.indices.filter { isStructural(items[$0]) }
        let depths = items.map { depth($0.local) }
        open.sort { depths[$0] < depths[$1] }
        for index in items.indices where items[index].local == nil || items[index].base != nil && items[index].isMoved {
            if let path = items[index].base { leaving[path] = index }
        }
        orderStructure()
        orderContent()
        orderDeletions()
    }

    private func isStructural(_ item: PushItem) -> Bool {
        item.local != nil && (item.base == nil ? item.kind == .directory : item.isMoved)
    }

    private func depth(_ path: RelativePath?) -> Int { path?.depth ?? 0 }

    private func providerPath(ofDirectory path: RelativePath) -> RelativePath? {
        path.isRoot ? .root : directories[path]
    }

    private func destination(_ item: PushItem) -> RelativePath? {
        guard let local = item.local, let parent = local.parent, let name = local.name else { return nil }
        return providerPath(ofDirectory: parent)?.appending(name)
    }
}

// MARK: - structure

extension PushOrder {
    private mutating func orderStructure() {
        while !open.isEmpty {
            if let position = open.firstIndex(where: isReady) {
                perform(open.remove(at: position))
            } else if !clearDeletedPlace(for: open) && !openRing() {
                break
            }
        }
        for index in items.indices where isNewDocument(items[index]) {
            guard let there = destination(items[index]), let occupant = leaving[there],
                items[occupant].local != nil || items[occupant].kind != items[index].kind
            else { continue }
            _ = clearDeletedPlace(for: [index])
        }
    }

    private func isNewDocument(_ item: PushItem) -> Bool {
        item.local != nil && item.base == nil && item.kind != .directory
    }

    private func isReady(_ index: Int) -> Bool {
        guard let there = destination(items[index]) else { return false }
        if let here = present[index], there != here, there.isInside(here) { return false }
        guard let occupant = leaving[there] else { return true }
        return occupant == index
    }

    private mutating func perform(_ index: Int) {
        guard let there = destination(items[index]), let local = items[index].local else { return }
        if let here = present[index] {
            if here != there { move(index, from: here, to: there, isFinal: true) }
            leaving[there] = nil
        } else {
            structure.append(.createDirectory(item: index, at: there))
            present[index] = there
            directories[local] = there
        }
    }

    private mutating func move(_ index: Int, from: RelativePath, to: RelativePath, isFinal: Bool) {
        structure.append(.move(item: index, from: from, to: to, isFinal: isFinal))
        guard items[index].kind == .directory else {
            present[index] = to
            leaving[from] = nil
            leaving[to] = isFinal ? nil : index
            return
        }
        func rebased(_ path: RelativePath) -> RelativePath { path.removing(ancestor: from).map(to.appending) ?? path }
        present = present.map { $0.map(rebased) }
        directories = directories.mapValues(rebased)
        leaving = Dictionary(leaving.map { (rebased($0), $1) }, uniquingKeysWith: { first, _ in first })
        if isFinal { leaving[to] = nil }
    }

    /// Deletes what stands in the place of an open item, if nothing in it is still to be moved out.
    private mutating func clearDeletedPlace(for waiting: [Int]) -> Bool {
        for index in waiting {
            guard let there = destination(items[index]), let occupant = leaving[there], items[occupant].local == nil
            else {
                continue
            }
            let inside = leaving.filter { $0.key.isInside(there) }
            guard inside.values.allSatisfy({ items[$0].local == nil }) else { continue }
            for (path, item) in inside.sorted(by: { $0.key.bytes.count > $1.key.bytes.count }) {
                structure.append(.delete(item: item, at: path))
                leaving[path] = nil
                deleted.insert(item)
                present[item] = nil
            }
            return true
        }
        return false
    }

    /// Moves one item that is in the place that another waits for, or below it, out of the way: beside its new place where that
    /// is known, else beside its present one, in a directory that stays. It stays open, with its new present path.
    private mutating func openRing() -> Bool {
        let wanted = Set(open.compactMap { destination(items[$0]) })
        let blocking = open.filter { index in
            guard let here = present[index], let name = here.name else { return false }
            let isAside = isTemporary(name) && !isToBeDeleted(here)
            return !isAside && destination(items[index]) != here && here.isInside(anyOf: wanted)
        }
        guard let index = blocking.min(by: { depth(present[$0]) < depth(present[$1]) }), let here = present[index]
        else { return false }
        let there = destination(items[index]).flatMap { $0.isInside(here) ? nil : $0 }
        let directory = stayingDirectory(there?.parent ?? here.parent)
        var free = directory.appending(temporaryName)
        var number = 1
        while leaving[free] != nil {
            number += 1
            free = directory.appending(FileName(unchecked: temporaryName.bytes + Array("-\(number)".utf8)))
        }
        move(index, from: here, to: free, isFinal: false)
        return true
    }

    private func isTemporary(_ name: FileName) -> Bool {
        TransitName.matches(name) || name.bytes.starts(with: temporaryName.bytes)
    }
}

extension PushOrder {
    /// Whether a directory above a place is to be deleted.
    private func isToBeDeleted(_ place: RelativePath) -> Bool {
        var current = place.parent
        while let directory = current {
            if let item = leaving[directory], items[item].local == nil { return true }
            current = directory.parent
        }
        return false
    }

    /// `directory`, or the nearest above it that is not to be deleted.
    private func stayingDirectory(_ directory: RelativePath?) -> RelativePath {
        var current = directory ?? .root
        while let item = leaving[current], items[item].local == nil { current = current.parent ?? .root }
        return current
    }
}

// MARK: - content and deletions

extension PushOrder {
    private mutating func orderContent() {
        let blocked = Set(open)
        for index in items.indices where items[index].local != nil && !blocked.contains(index) {
            let item = items[index]
            if item.base != nil {
                if item.isChanged, let path = present[index] { content.append(.send(item: index, at: path, over: nil)) }
            } else if item.kind != .directory, let path = destination(item) {
                let occupant = leaving[path]
                if let occupant {
                    guard items[occupant].local == nil, items[occupant].kind == item.kind else { continue }
                    deleted.insert(occupant)
                }
                content.append(.send(item: index, at: path, over: occupant))
            }
        }
    }

    private mutating func orderDeletions() {
        var levels: [Int: [Step]] = [:]
        for index in items.indices where items[index].local == nil && !deleted.contains(index) {
            guard let path = present[index] else { continue }
            levels[depth(path), default: []].append(.delete(item: index, at: path))
        }
        deletions = levels.sorted { $0.key > $1.key }.map(\.value)
    }
}
