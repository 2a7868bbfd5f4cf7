package import QuireCore

/// Items moving while they are claimed.
extension ClaimTable {
    /// One rename.
    package struct Move: Sendable, Hashable {
        package let from: RelativePath
        package let to: RelativePath
        /// The outermost package that holds the destination, where there is one.
        package let destinationPackage: RelativePath?

        package init(from: RelativePath, to: RelativePath, destinationPackage: RelativePath? = nil) {
            self.from = from
            self.to = to
            self.destinationPackage = destinationPackage
        }
    }

    /// An item was renamed: claims on it and below follow it, holders and waiters alike, except those for replacing.
    /// Claims on what was at the destination stay there.
    package mutating func moved(
        from: RelativePath, to: RelativePath, destinationPackage: RelativePath? = nil
    ) -> [ClaimAction] {
        moved([Move(from: from, to: to, destinationPackage: destinationPackage)])
    }

    /// Several renames that happened at once, as when two items swap places. No path of one is inside another's `from`.
    ///
    /// Claims of different purposes that are held already stay held, even where they could not be granted together at
    /// their new places; everybody else waits for both.
    package mutating func moved(_ moves: [Move]) -> [ClaimAction] {
        let moves = moves.filter { $0.from != $0.to }
        guard !isEmpty, !moves.isEmpty else { return [] }
        let affected = Set(moves.flatMap { slots(inside: $0.from) })
            .filter { records[Int($0)].accesses.contains { access in moves.contains { $0.applies(to: access) } } }
            .sorted { records[Int($0)].order < records[Int($1)].order }
        guard !affected.isEmpty else { return [] }
        for slot in affected { removeKeys(slot) }
        for slot in affected {
            records[Int(slot)].accesses = records[Int(slot)].accesses.map { access in
                moves.first { $0.applies(to: access) }?.apply(to: access) ?? access
            }
            addKeys(slot)
        }
        for slot in affected { noteHolders(around: slot) }
        var again = affected.filter { !records[Int($0)].isHeld }
        for slot in affected {
            var parked = records[Int(slot)].firstParked
            while parked >= 0 {
                again.append(parked)
                parked = records[Int(parked)].nextParked
            }
        }
        return reconsider(Array(Set(again))) + breakCycles()
    }

    /// Lets waiters that came to the places of `slot` see holders that are younger than they are.
    private mutating func noteHolders(around slot: Int32) {
        var touched: [Int] = []
        for key in records[Int(slot)].keys {
            let first = Int(key.node) * LaneKind.allCases.count
            touched += first..<(first + LaneKind.allCases.count)
            forEachLane(beside: key) { touched.append($0) }
        }
        for lane in Set(touched) {
            lanes[lane].ahead = lanes[lane].entries.compactMap { entry in
                entry.slot >= 0 && records[Int(entry.slot)].isHeld ? entry.slot : nil
            }
        }
    }

    /// The claims kept at or below `path`, or under a package above it.
    private func slots(inside path: RelativePath) -> Set<Int32> {
        var found: Set<Int32> = []
        let visit = { (node: Int32) in
            let first = Int(node) * LaneKind.allCases.count
            for lane in first..<(first + LaneKind.allCases.count) {
                for entry in lanes[lane].entries where entry.slot >= 0 { found.insert(entry.slot) }
            }
        }
        for node in trie.nodes(above: path) { visit(node) }
        if let node = trie.node(at: path) {
            visit(node)
            trie.forEachDescendant(of: node) { node in
                visit(node)
                return true
            }
        }
        return found
    }
}

extension ClaimTable.Move {
    func applies(to access: Access) -> Bool { access.followsMoves && access.path.isInside(from) }

    /// `access` where the item is now.
    func apply(to access: Access) -> Access {
        guard let rest = access.path.removing(ancestor: from) else { return access }
        var moved = access
        moved.path = to.appending(rest)
        let root = access.packageRoot?.removing(ancestor: from).map { to.appending($0) }
        moved.packageRoot = destinationPackage ?? root
        return moved
    }
}
