import CLinux
import Glibc
import QuireCore
import QuireStore

/// Tags by the name that file managers use: comma separated, in UTF-8. (freedesktop.org, "Common extended attributes")
///
/// They are the item's tags, as `user.quire.tags` has them, and are listed, so that copies carry them along. What a program
/// wrote under this name into the store itself is told where the item has no tags.
extension Driver {
    static let tagsName = "user.xdg.tags"

    /// GETXATTR.
    func tags(_ reply: consuming Reply, _ node: Node, _ size: Int) {
        guard let path = table.path(of: node) else { return reply.error(ENODATA) }
        let stored = storedTags(node)
        guard mayHaveTags(node) else {
            return answer(reply, stored.map { .success($0) } ?? .failure(DriverError(ENODATA)), size)
        }
        answerLater(reply, size) { [services] in
            let tags = await services.attributes.attribute("tags", at: path)
            return tags.flatMap { $0.isEmpty ? nil : $0 } ?? stored
        }
    }

    /// LISTXATTR of an item that may have tags.
    func listWithTags(_ reply: consuming Reply, _ node: Node, _ size: Int, isRoot: Bool) {
        let stored: [UInt8]
        switch storedNames(node, isRoot: isRoot) {
        case .success(let names): stored = names
        case .failure(let error): return reply.error(error.errno)
        }
        let name = Array(Self.tagsName.utf8)
        guard let path = table.path(of: node), !stored.split(separator: 0).contains(where: { $0.elementsEqual(name) })
        else { return answer(reply, .success(stored), size) }
        answerLater(reply, size) { [self] in
            await hasTags(at: path) ? stored + name + [0] : stored
        }
    }

    /// What the store has under this name; nil where there is nothing.
    func storedTags(_ node: Node) -> [UInt8]? {
        guard let reference = try? resolver.reference(node) else { return nil }
        return try? Self.buffer(1 << 16) { quire_any_fgetxattr(reference.raw, Self.tagsName, $0, $1) }
    }

    /// False where it is certain that the item has none.
    func mayHaveTags(_ node: Node) -> Bool {
        services.attributes.mayHaveTags(inode: table.locked { _ in node.inode })
    }

    /// Whether the item has any, by the index.
    func hasTags(at path: RelativePath) async -> Bool {
        await services.attributes.attribute("tags", at: path)?.isEmpty == false
    }

    /// What the store has under this name is over once the item's own tags are set.
    func removeStoredTags(_ node: Node) {
        guard let reference = try? resolver.reference(node) else { return }
        // ENODATA: nothing was there, as nearly always.
        _ = quire_any_fremovexattr(reference.raw, Self.tagsName)
    }
}
