import QuireCore

/// A call on the mount that the daemon has its voice make, as it goes over their channel: a letter, then paths and names that
/// end with a NUL each. Directories are named by their path below the mount.
enum VoiceCall: Equatable, Sendable {
    /// Looks a name up in the root, that nothing has.
    case greet(FileName)
    case rename(RelativePath, FileName, to: RelativePath, FileName)
    case remove(RelativePath, FileName, isDirectory: Bool)
    case makeDirectory(RelativePath, FileName)

    /// Bytes of the longest message. What is longer is no call that the kernel takes.
    static let longest = 16_384

    /// Nil where it is too long.
    var message: [UInt8]? {
        var bytes: [UInt8]
        switch self {
        case .greet(let name): bytes = Self.message("g", [name.bytes])
        case .rename(let from, let source, let to, let target):
            bytes = Self.message("m", [from.bytes, source.bytes, to.bytes, target.bytes])
        case .remove(let directory, let name, let isDirectory):
            bytes = Self.message(isDirectory ? "r" : "u", [directory.bytes, name.bytes])
        case .makeDirectory(let directory, let name): bytes = Self.message("d", [directory.bytes, name.bytes])
        }
        return bytes.count <= Self.longest ? bytes : nil
    }

    /// - Parameter message: one that was received; nil where it is none.
    init?(_ message: ArraySlice<UInt8>) {
        guard let letter = message.first, message.last == 0 else { return nil }
        let fields = message.dropFirst().dropLast().split(separator: 0, omittingEmptySubsequences: false).map(
            Array.init)
        switch (Character(Unicode.Scalar(letter)), fields.count) {
        case ("g", 1): self = .greet(FileName(unchecked: fields[0]))
        case ("m", 4):
            self = .rename(
                RelativePath(unchecked: fields[0]), FileName(unchecked: fields[1]),
                to: RelativePath(unchecked: fields[2]), FileName(unchecked: fields[3]))
        case ("u", 2), ("r", 2):
            self = .remove(
                RelativePath(unchecked: fields[0]), FileName(unchecked: fields[1]),
                isDirectory: letter == UInt8(ascii: "r"))
        case ("d", 2): self = .makeDirectory(RelativePath(unchecked: fields[0]), FileName(unchecked: fields[1]))
        default: return nil
        }
    }

    private static func message(_ letter: Unicode.Scalar, _ fields: [[UInt8]]) -> [UInt8] {
        fields.reduce(into: [UInt8(ascii: letter)]) { $0 += $1 + [0] }
    }
}
