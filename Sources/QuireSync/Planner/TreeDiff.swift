package import QuireCore

/// Plans for a whole tree: matches, plans each item, and lets directories live as long as something in them does.
///
/// Pure. Use: make one, look up `wantedLocals`, then call `units(localAt:)`.
package struct TreeDiff: Sendable {
    private let matching: TreeMatching
    /// Where each remote item belongs in the store, by its remote path.
    private let targets: [RelativePath: RelativePath]
    /// Base path of each local directory that is linked to a base, by local path.
    private let linkedDirectories: [RelativePath: RelativePath]
    private let linkedItems: Set<ItemID>
    private let keepsAttributes: Bool

    /// - Parameter keepsAttributes: false for a provider that keeps neither mtime nor mode: what it says of them counts only
    ///   for versions that are new here.
    package init(bases: [TreeBase], remote: RemoteView, keepsAttributes: Bool = true) {
        self.keepsAttributes = keepsAttributes
        let matching = TreeMatching(bases: bases, remote: remote)
        self.matching = matching
        var directories: [RelativePath: RelativePath] = [:]
        var linked: Set<ItemID> = []
        for base in bases {
            guard let local = base.local else { continue }
            linked.insert(local.id)
            if local.facts.kind == .directory { directories[local.path] = base.record.path }
        }
        linkedDirectories = directories
        linkedItems = linked
        targets = Self.targets(matching)
    }

    /// How many bases have nothing at the provider any more.
    package var missingAtProvider: Int { matching.missingAtProvider }

    /// Those bases.
    package var missing: [BaseRecord] { matching.missing }

    /// Places in the store where a new remote item belongs: whatever is there now must be known to plan.
    package var wantedLocals: [RelativePath] {
        matching.remote.keys.filter { matching.baseOfRemote[$0] == nil }.compactMap { targets[$0] }
    }

    /// The items about which something is to be done, sorted by path, parents first.
    /// - Parameter localAt: the local items at `wantedLocals` that have no base.
    package func units(localAt: [RelativePath: LocalEntry]) -> [TreeUnit] {
        let nodes = nodesOfNewDirectories(localAt)
        var units: [TreeUnit] = []
        for (path, base) in matching.bases {
            units.append(unit(base, matching.remoteOfBase[path].flatMap { matching.remote[$0] }, nodes))
        }
        for (path, item) in matching.remote where matching.baseOfRemote[path] == nil {
            let local = targets[path].flatMap { localAt[$0] }.flatMap { linkedItems.contains($0.id) ? nil : $0 }
            units.append(unit(nil, local, item, nodes))
        }
        undoCircularMoves(&units)
        Self.keepNonEmptyDirectories(&units)
        units.removeAll { $0.plan.steps.isEmpty }
        for index in units.indices { units[index].directory = directory(of: units[index], localAt) }
        return units.sorted { Self.order($0).bytes.lexicographicallyPrecedes(Self.order($1).bytes) }
    }

    /// The path by which a unit is ordered.
    private static func order(_ unit: TreeUnit) -> RelativePath {
        unit.target ?? unit.local?.path ?? unit.remote?.path ?? unit.base?.path ?? .root
    }
}

// MARK: - places

extension TreeDiff {
    /// A remote item's path in the store follows the local places of its directories; where the provider moved it and this
    /// device did not, or both did, the provider's place counts.
    private static func targets(_ matching: TreeMatching) -> [RelativePath: RelativePath] {
        var targets: [RelativePath: RelativePath] = [.root: .root]
        for path in matching.remote.keys.sorted(by: { $0.bytes.count < $1.bytes.count }) {
            guard let parent = path.parent, let name = path.name else { continue }
            let followed = Self.followed(parent, name, targets)
            guard let basePath = matching.baseOfRemote[path], let local = matching.bases[basePath]?.local,
                !remoteMoved(basePath, path, matching), !local.isInTransit, !local.isLocalOnly
            else {
                targets[path] = followed
                continue
            }
            targets[path] = local.path
        }
        return targets
    }

    /// The provider's place of an item, as a path in the store.
    private static func followed(
        _ parent: RelativePath, _ name: FileName, _ targets: [RelativePath: RelativePath]
    ) -> RelativePath { (targets[parent] ?? parent).appending(name) }

    private static func remoteMoved(_ base: RelativePath, _ remote: RelativePath, _ matching: TreeMatching) -> Bool {
        // A path that is the same may be another directory's by now.
        guard base.name == remote.name, let oldParent = base.parent, let newParent = remote.parent else {
            return base != remote
        }
        return (matching.baseOfRemote[newParent] ?? (newParent.isRoot ? .root : nil)) != oldParent
    }

    private func nodesOfNewDirectories(_ localAt: [RelativePath: LocalEntry]) -> [RelativePath: Node] {
        var nodes: [RelativePath: Node] = [:]
        for (path, item) in matching.remote where item.kind == .directory && matching.baseOfRemote[path] == nil {
            guard let target = targets[path], let local = localAt[target], local.facts.kind == .directory,
                !linkedItems.contains(local.id)
            else { continue }
            nodes[target] = .remote(path)
        }
        return nodes
    }

    /// The directory in which a unit's item belongs.
    private func directory(of unit: TreeUnit, _ localAt: [RelativePath: LocalEntry]) -> TreeUnit.Directory {
        guard let parent = unit.remote?.path.parent, !parent.isRoot else { return .root }
        if let base = matching.baseOfRemote[parent] {
            let local = matching.bases[base]?.local
            return local.map { .known(inode: $0.fingerprint.inode) } ?? .made(for: parent)
        }
        guard let local = targets[parent].flatMap({ localAt[$0] }), local.facts.kind == .directory,
            !linkedItems.contains(local.id)
        else { return .made(for: parent) }
        return .known(inode: local.fingerprint.inode)
    }

    private func place(ofBase path: RelativePath) -> Place? {
        guard let parent = path.parent, let name = path.name else { return nil }
        return Place(parent.isRoot ? .root : .base(parent), name)
    }

    private func place(ofRemote path: RelativePath) -> Place? {
        guard let parent = path.parent, let name = path.name else { return nil }
        if parent.isRoot { return Place(.root, name) }
        return Place(matching.baseOfRemote[parent].map { .base($0) } ?? .remote(parent), name)
    }

    private func place(ofLocal path: RelativePath, _ nodes: [RelativePath: Node]) -> Place? {
        guard let parent = path.parent, let name = path.name else { return nil }
        if parent.isRoot { return Place(.root, name) }
        return Place(linkedDirectories[parent].map { .base($0) } ?? nodes[parent] ?? .local(parent), name)
    }
}

// MARK: - units

extension TreeDiff {
    private func unit(_ base: TreeBase, _ remote: RemoteItem?, _ nodes: [RelativePath: Node]) -> TreeUnit {
        let unit = unit(base.record, base.local, remote, nodes)
        // Of most nothing is to be done, and they are many.
        return unit.plan.steps.isEmpty ? TreeUnit(unchanged: base.$local) : unit
    }

    private func unit(
        _ base: BaseRecord?, _ local: LocalEntry?, _ remote: RemoteItem?, _ nodes: [RelativePath: Node]
    ) -> TreeUnit {
        let baseState = base.flatMap { record in
            place(ofBase: record.path).map { BaseState(place: $0, version: record.version, facts: ItemFacts(record)) }
        }
        let localState = local.flatMap { entry in
            place(ofLocal: entry.path, nodes).map {
                LocalState(place: $0, content: entry.content, facts: entry.facts, isLocalOnly: entry.isLocalOnly)
            }
        }
        let remoteState = remote.flatMap { item in
            place(ofRemote: item.path).map { place in
                RemoteState(
                    place: place, version: item.version,
                    facts: ItemFacts(item, knowing: base, keepsAttributes: keepsAttributes))
            }
        }
        let plan = SyncPlanner.plan(base: baseState, local: localState, remote: remoteState)
        let target = remote.flatMap { targets[$0.path] } ?? (plan.removesLocal ? nil : local?.path)
        return TreeUnit(base: base, local: local, remote: remote, target: target, plan: plan)
    }

    /// A directory that the provider put into one that this device has put into it: the provider's place counts for both, so
    /// what was moved here goes back first.
    private func undoCircularMoves(_ units: inout [TreeUnit]) {
        let movedHere = units.indices.filter { units[$0].plan.steps.contains(.moveRemote) }
        let byRemote = Dictionary(movedHere.compactMap { index in units[index].remote.map { ($0.path, index) } }) { $1 }
        guard !byRemote.isEmpty else { return }
        for outer in units where outer.plan.steps.contains(.moveLocal) {
            guard let place = outer.local?.path, outer.target?.isBelow(place) == true else { continue }
            var highest: Int?
            var above = outer.remote?.path.parent
            while let path = above, !path.isRoot {
                if let index = byRemote[path], units[index].local?.path.isBelow(place) == true { highest = index }
                above = path.parent
            }
            guard let highest, let remote = units[highest].remote?.path, let parent = remote.parent,
                let name = remote.name
            else { continue }
            units[highest].plan.steps = units[highest].plan.steps.map { $0 == .moveRemote ? .moveLocal : $0 }
            units[highest].target = Self.followed(parent, name, targets)
        }
    }

    /// A directory that was deleted on one side stays as long as something in it does: edit beats delete.
    private static func keepNonEmptyDirectories(_ units: inout [TreeUnit]) {
        // What is moved away keeps no directory, nor does what lies in it; where it goes, the provider has one, if of the same
        // path another.
        let leaving = Set(units.filter { $0.plan.steps.contains(.moveLocal) }.compactMap(\.local?.path))
        var keptHere: Set<RelativePath> = []
        var keptThere: Set<RelativePath> = []
        for unit in units {
            let steps = unit.plan.steps
            if let path = unit.local?.path, !unit.plan.removesLocal {
                insertAncestors(of: path, into: &keptHere, leaving: leaving)
            }
            if let path = unit.remote?.path, steps.contains(.createLocal) || steps.contains(.moveLocal) {
                insertAncestors(of: path, into: &keptThere)
            }
        }
        for index in units.indices {
            let unit = units[index]
            if unit.plan == [.removeLocal], let path = unit.local?.path, keptHere.contains(path) {
                units[index].plan = [.forget, .createRemote]
                units[index].target = path
            } else if unit.plan.removesRemote, let path = unit.remote?.path, keptThere.contains(path) {
                units[index].plan = [.createLocal]
            }
        }
    }

    /// - Parameter leaving: what is above one of these is none.
    private static func insertAncestors(
        of path: RelativePath, into paths: inout Set<RelativePath>, leaving: Set<RelativePath> = []
    ) {
        var current = path
        while !leaving.contains(current), let parent = current.parent, !parent.isRoot, paths.insert(parent).inserted {
            current = parent
        }
    }
}
