import QuireCore
import Synchronization

/// Files that were put under a conflict copy's name, and that the kernel may still find under the document's.
final class ReplacedNodes: Sendable {
    private let count = Atomic<Int>(0)
    // Taken alone.
    private let nodes = Lock<Set<ObjectIdentifier>>([])

    func insert(_ node: Node) {
        nodes.withLock { nodes in
            nodes.insert(ObjectIdentifier(node))
            count.store(nodes.count, ordering: .relaxed)
        }
    }

    func remove(_ node: Node) {
        nodes.withLock { nodes in
            nodes.remove(ObjectIdentifier(node))
            count.store(nodes.count, ordering: .relaxed)
        }
    }

    /// One relaxed atomic load where there are none.
    func contains(_ node: Node) -> Bool {
        count.load(ordering: .relaxed) > 0 && nodes.withLock { $0.contains(ObjectIdentifier(node)) }
    }
}
