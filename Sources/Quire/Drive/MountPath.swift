import Foundation
import QuireCore

/// A place in the file system as the kernel knows it: absolute, no symbolic links but perhaps the last name, any bytes.
struct MountPath: Sendable, Hashable {
    /// Below `/`.
    let path: RelativePath

    init(_ path: RelativePath) { self.path = path }

    /// An absolute path without `..`; anything else is the root.
    init(_ text: String) { path = RelativePath(parsing: text) ?? .root }

    /// Whether this is `other` or lies below it.
    func isInside(_ other: MountPath) -> Bool { path.isInside(other.path) }

    /// The URL of what lies at `below` under this.
    ///
    /// Names that are not UTF-8 are percent-encoded byte by byte; Foundation's own calls cannot use such a URL.
    func url(_ below: RelativePath, isDirectory: Bool = false) -> URL {
        let bytes = path.appending(below).bytes
        if let text = String(validating: bytes, as: UTF8.self) {
            return URL(filePath: "/" + text, directoryHint: isDirectory ? .isDirectory : .notDirectory)
        }
        let safe = Set("/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
        let encoded = bytes.map { byte in
            guard !safe.contains(byte) else { return String(UnicodeScalar(byte)) }
            let digits = String(byte, radix: 16, uppercase: true)
            return digits.utf8.count == 1 ? "%0\(digits)" : "%\(digits)"
        }
        return URL(string: "file:///" + encoded.joined()) ?? URL(filePath: "/", directoryHint: .isDirectory)
    }
}
