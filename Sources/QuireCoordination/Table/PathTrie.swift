import QuireCore

/// The paths that have claims, and their ancestors, as numbered nodes. Of the nodes without claims at or below them the
/// last few are kept, as an item is mostly asked for again soon; others are dropped.
struct PathTrie {
    struct Node {
        var parent: Int32
        var name: ArraySlice<UInt8>
        var firstChild: Int32 = -1
        var nextSibling: Int32 = -1
        var previousSibling: Int32 = -1
        /// How many claims keep it here.
        var uses: Int32 = 0
        /// Whether it is among those that are kept without any.
        var isIdle = false
    }

    private struct Edge: Hashable {
        let parent: Int32
        let name: ArraySlice<UInt8>

        static func == (left: Edge, right: Edge) -> Bool { left.parent == right.parent && left.name == right.name }

        func hash(into hasher: inout Hasher) {
            hasher.combine(parent)
            name.withUnsafeBytes { hasher.combine(bytes: $0) }
        }
    }

    static let root: Int32 = 0

    private(set) var nodes = [Node(parent: -1, name: [])]
    private var free: [Int32] = []
    private var edges: [Edge: Int32] = [:]
    /// A ring of the nodes that nobody used when they were put in.
    private var idle: [Int32] = []
    private var oldestIdle = 0
    private let idleLimit: Int

    /// - Parameter idleLimit: how many nodes are kept that nobody uses.
    init(idleLimit: Int = 0) { self.idleLimit = idleLimit }

    /// The node of `path`, made where it is missing.
    mutating func node(making path: RelativePath) -> Int32 {
        var node = Self.root
        forEachName(of: path) { name in
            let edge = Edge(parent: node, name: name)
            if let child = edges[edge] {
                node = child
            } else {
                node = add(edge)
            }
            return true
        }
        return node
    }

    /// The node of `path` where there is one.
    func node(at path: RelativePath) -> Int32? {
        var node = Self.root
        var isThere = true
        forEachName(of: path) { name in
            guard let child = edges[Edge(parent: node, name: name)] else {
                isThere = false
                return false
            }
            node = child
            return true
        }
        return isThere ? node : nil
    }

    /// The nodes on the way to `path`, from the root down, without that of `path` itself, as far as there are any.
    func nodes(above path: RelativePath) -> [Int32] {
        guard !path.isRoot else { return [] }
        var node = Self.root
        var found = [node]
        forEachName(of: path) { name in
            guard let child = edges[Edge(parent: node, name: name)] else { return false }
            node = child
            found.append(node)
            return true
        }
        if let last = self.node(at: path), found.last == last { found.removeLast() }
        return found
    }

    /// Calls `body` with the nodes from the root down to that of `path`, as far as there are any and until it returns false.
    ///
    /// - Returns: whether it was called for the node of `path` itself, and returned true.
    func walk(to path: RelativePath, _ body: (Int32) -> Bool) -> Bool {
        guard body(Self.root) else { return false }
        var node = Self.root
        var isThere = true
        forEachName(of: path) { name in
            guard let child = edges[Edge(parent: node, name: name)], body(child) else {
                isThere = false
                return false
            }
            node = child
            return true
        }
        return isThere
    }

    mutating func use(_ node: Int32) { nodes[Int(node)].uses += 1 }

    /// Ends one use. What nobody uses any more is dropped, now or later.
    mutating func endUse(_ node: Int32) {
        nodes[Int(node)].uses -= 1
        guard nodes[Int(node)].uses == 0, nodes[Int(node)].firstChild < 0, !nodes[Int(node)].isIdle else { return }
        guard idleLimit > 0 else { return drop(node) }
        nodes[Int(node)].isIdle = true
        guard idle.count == idleLimit else { return idle.append(node) }
        let oldest = idle[oldestIdle]
        idle[oldestIdle] = node
        oldestIdle = (oldestIdle + 1) % idleLimit
        nodes[Int(oldest)].isIdle = false
        drop(oldest)
    }

    /// Drops the node and its ancestors as far as nothing keeps them.
    private mutating func drop(_ node: Int32) {
        var node = node
        while node != Self.root, nodes[Int(node)].uses == 0, nodes[Int(node)].firstChild < 0, !nodes[Int(node)].isIdle {
            let gone = nodes[Int(node)]
            edges[Edge(parent: gone.parent, name: gone.name)] = nil
            if gone.previousSibling >= 0 {
                nodes[Int(gone.previousSibling)].nextSibling = gone.nextSibling
            } else {
                nodes[Int(gone.parent)].firstChild = gone.nextSibling
            }
            if gone.nextSibling >= 0 { nodes[Int(gone.nextSibling)].previousSibling = gone.previousSibling }
            nodes[Int(node)].name = []
            free.append(node)
            node = gone.parent
        }
    }

    /// Calls `body` with every node strictly below `node`, until it returns false.
    func forEachDescendant(of node: Int32, _ body: (Int32) -> Bool) {
        var current = nodes[Int(node)].firstChild
        while current >= 0 {
            guard body(current) else { return }
            if nodes[Int(current)].firstChild >= 0 {
                current = nodes[Int(current)].firstChild
                continue
            }
            while current != node, nodes[Int(current)].nextSibling < 0 { current = nodes[Int(current)].parent }
            if current == node { return }
            current = nodes[Int(current)].nextSibling
        }
    }

    private mutating func add(_ edge: Edge) -> Int32 {
        let sibling = nodes[Int(edge.parent)].firstChild
        let node = Node(parent: edge.parent, name: edge.name, nextSibling: sibling)
        let index: Int32
        if let reused = free.popLast() {
            index = reused
            nodes[Int(index)] = node
        } else {
            index = Int32(nodes.count)
            nodes.append(node)
        }
        if sibling >= 0 { nodes[Int(sibling)].previousSibling = index }
        nodes[Int(edge.parent)].firstChild = index
        edges[edge] = index
        return index
    }

    private func forEachName(of path: RelativePath, _ body: (ArraySlice<UInt8>) -> Bool) {
        let bytes = path.bytes
        guard !bytes.isEmpty else { return }
        var start = 0
        for index in 0..<bytes.count where bytes[index] == 0x2F {
            guard body(bytes[start..<index]) else { return }
            start = index + 1
        }
        _ = body(bytes[start...])
    }
}
