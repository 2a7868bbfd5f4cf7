/// One component of a path: the bytes between two slashes.
///
/// Linux names are bytes, not text; they are compared byte by byte and never normalised. A value is never empty, holds
/// neither `/` nor NUL, and is neither `.` nor `..`. Its length is not limited here: the filesystem answers
/// ENAMETOOLONG above 255 bytes.
public struct FileName: Hashable, Sendable, Comparable {
    /// The bytes, without a terminating NUL.
    public let bytes: [UInt8]

    /// Makes a name of `bytes`, or nil where they cannot be one (empty, `.`, `..`, with `/` or NUL).
    public init?(_ bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        guard !bytes.isEmpty, bytes != [0x2E], bytes != [0x2E, 0x2E] else { return nil }
        guard !bytes.contains(0x2F), !bytes.contains(0) else { return nil }
        self.bytes = bytes
    }

    /// Makes a name of a string's UTF-8 bytes, or nil where they cannot be one.
    public init?(_ string: String) { self.init(string.utf8) }

    /// Takes bytes that the kernel handed over, which checked them already.
    package init(unchecked bytes: [UInt8]) { self.bytes = bytes }

    /// The name as text where it is valid UTF-8, else nil.
    public var string: String? { String(validating: bytes, as: UTF8.self) }

    /// By bytes.
    public static func < (left: FileName, right: FileName) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }

    /// The part before the last dot, and the part from it on. A leading dot starts no extension: `.profile` has none.
    package var stemAndExtension: (stem: ArraySlice<UInt8>, extension: ArraySlice<UInt8>) {
        guard let dot = bytes.lastIndex(of: 0x2E), dot > bytes.startIndex else { return (bytes[...], []) }
        return (bytes[..<dot], bytes[dot...])
    }
}

extension FileName: CustomStringConvertible {
    /// The name for people: bytes that are not UTF-8, and control characters, are shown as `\xNN`.
    public var description: String { DisplayBytes.escaped(bytes) }
}

extension FileName: ExpressibleByStringLiteral {
    /// A literal that cannot be a name is a programmer's error.
    public init(stringLiteral value: String) {
        guard let name = FileName(value) else { preconditionFailure("not a file name: \(value)") }
        self = name
    }
}
