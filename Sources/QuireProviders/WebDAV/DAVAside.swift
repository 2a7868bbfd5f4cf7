import QuireCore

/// The name under which a directory lies in `.quire/kept` while it is deleted: `removed-PATH-RANDOM`.
///
/// PATH is where it was, for who finds it after a kill, with `=2f` for a slash and `=3d` for `=`: servers take what they
/// have taken before. Of a path that is too long for a name it is the end.
enum DAVAside {
    private static let mark = Array("removed-".utf8)
    private static let slash = Array("=2f".utf8)
    private static let equals = Array("=3d".utf8)
    private static let dash = UInt8(ascii: "-")

    /// A fresh name.
    ///
    /// - Parameter longest: how many bytes a name may have.
    static func fresh(of path: RelativePath, longest: Int) -> RelativePath {
        let random = Array("-\(String(UInt64.random(in: 0 ... .max), radix: 16))".utf8)
        let room = longest - mark.count - random.count
        return DAVLayout.kept.appending(FileName(unchecked: mark + ending(of: path, room) + random))
    }

    /// Where a directory in `.quire/kept` was; nil for what is no such.
    static func origin(_ aside: RelativePath) -> RelativePath? {
        guard let name = aside.name?.bytes, aside.parent == DAVLayout.kept, name.starts(with: mark),
            let end = name.lastIndex(of: dash), end > mark.count
        else { return nil }
        var bytes: [UInt8] = []
        var rest = name[mark.count..<end]
        while let next = rest.first {
            let escaped = rest.starts(with: slash) ? UInt8(ascii: "/") : rest.starts(with: equals) ? next : nil
            bytes.append(escaped ?? next)
            rest = rest.dropFirst(escaped == nil ? 1 : slash.count)
        }
        guard let path = RelativePath(parsing: String(decoding: bytes, as: UTF8.self)), !path.isRoot,
            !path.isInside(StoreLayout.control)
        else { return nil }
        return path
    }

    /// Where a directory stays that seems empty while names in it may not be shown: nobody looks into it again.
    static func hidden(_ aside: RelativePath) -> RelativePath {
        let name = aside.name?.bytes.dropFirst(mark.count) ?? []
        return DAVLayout.kept.appending(FileName(unchecked: Array("hidden-".utf8) + name))
    }

    /// Where one stays for a while that seems empty.
    static func emptied(_ aside: RelativePath, in day: RelativePath) -> RelativePath {
        let name = aside.name?.bytes.dropFirst(mark.count) ?? []
        return day.appending(FileName(unchecked: Array(name)))
    }

    private static func ending(of path: RelativePath, _ room: Int) -> [UInt8] {
        var text: [UInt8] = []
        for name in path.components.reversed() {
            let more = escaped(name.bytes) + (text.isEmpty ? [] : slash + text)
            guard more.count <= room else { break }
            text = more
        }
        guard text.isEmpty else { return text }
        for character in String(decoding: path.name?.bytes ?? [], as: UTF8.self) {
            let more = escaped(character.utf8)
            guard text.count + more.count <= room else { break }
            text += more
        }
        return text
    }

    private static func escaped(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        bytes.flatMap { $0 == UInt8(ascii: "=") ? equals : [$0] }
    }
}
