/// A path below some root (the drive's, a container's, a provider's): names joined by `/`, no leading slash.
///
/// The empty path is the root itself. Equality is by bytes.
public struct RelativePath: Hashable, Sendable {
    /// The names joined by `/`; empty for the root.
    public let bytes: [UInt8]

    /// The root itself.
    public static let root = RelativePath(unchecked: [])

    package init(unchecked bytes: [UInt8]) { self.bytes = bytes }

    /// Joins `names`.
    public init(_ names: some Sequence<FileName>) {
        var bytes: [UInt8] = []
        for name in names {
            if !bytes.isEmpty { bytes.append(0x2F) }
            bytes += name.bytes
        }
        self.bytes = bytes
    }

    /// Reads a path as a person writes it: leading, trailing and doubled slashes and `.` are dropped.
    ///
    /// - Returns: nil where a component is `..` or holds NUL.
    public init?(parsing text: String) {
        var names: [FileName] = []
        for part in text.utf8.split(separator: 0x2F) where Array(part) != [0x2E] {
            guard let name = FileName(part) else { return nil }
            names.append(name)
        }
        self.init(names)
    }

    /// Whether this is the root.
    public var isRoot: Bool { bytes.isEmpty }

    /// How many directories below the root it lies in.
    package var depth: Int { bytes.count { $0 == 0x2F } }

    /// The names from the root down.
    public var components: [FileName] { bytes.split(separator: 0x2F).map { FileName(unchecked: Array($0)) } }

    /// The last name; nil for the root.
    public var name: FileName? {
        guard !isRoot else { return nil }
        let start = bytes.lastIndex(of: 0x2F).map { $0 + 1 } ?? 0
        return FileName(unchecked: Array(bytes[start...]))
    }

    /// The directory that holds this; the root's is nil.
    public var parent: RelativePath? {
        guard !isRoot else { return nil }
        guard let slash = bytes.lastIndex(of: 0x2F) else { return .root }
        return RelativePath(unchecked: Array(bytes[..<slash]))
    }

    /// The path of `name` in this directory.
    public func appending(_ name: FileName) -> RelativePath {
        isRoot ? RelativePath(unchecked: name.bytes) : appending(bytesOf: name.bytes)
    }

    private func appending(bytesOf more: [UInt8]) -> RelativePath {
        var all: [UInt8] = []
        all.reserveCapacity(bytes.count + 1 + more.count)
        all += bytes
        all.append(0x2F)
        all += more
        return RelativePath(unchecked: all)
    }

    /// This path below `prefix`.
    public func appending(_ path: RelativePath) -> RelativePath {
        if isRoot { return path }
        return path.isRoot ? self : appending(bytesOf: path.bytes)
    }

    /// Whether this is `ancestor` or lies below it.
    public func isInside(_ ancestor: RelativePath) -> Bool {
        guard !ancestor.isRoot else { return true }
        guard bytes.starts(with: ancestor.bytes) else { return false }
        return bytes.count == ancestor.bytes.count || bytes[ancestor.bytes.count] == 0x2F
    }

    /// Whether this is one of `ancestors`, or lies below one.
    package func isInside(anyOf ancestors: Set<RelativePath>) -> Bool {
        var current: RelativePath? = self
        while let path = current {
            if ancestors.contains(path) { return true }
            current = path.parent
        }
        return false
    }

    /// Whether this lies below `ancestor`, and is not that itself.
    package func isBelow(_ ancestor: RelativePath) -> Bool { isInside(ancestor) && self != ancestor }

    /// What remains of this path below `ancestor`; nil where it does not lie there.
    public func removing(ancestor: RelativePath) -> RelativePath? {
        guard isInside(ancestor) else { return nil }
        guard !ancestor.isRoot else { return self }
        return RelativePath(unchecked: Array(bytes.dropFirst(ancestor.bytes.count + 1)))
    }
}

extension RelativePath: CustomStringConvertible {
    /// The path for people, escaped as `FileName`; `.` for the root.
    public var description: String { isRoot ? "." : DisplayBytes.escaped(bytes) }
}

extension RelativePath: ExpressibleByStringLiteral {
    /// A literal with `..` in it is a programmer's error.
    public init(stringLiteral value: String) {
        guard let path = RelativePath(parsing: value) else { preconditionFailure("not a path: \(value)") }
        self = path
    }
}
