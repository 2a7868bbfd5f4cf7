package import QuireCore

/// One result of `quire find`, as it is printed.
package enum FindLine {
    /// - Parameter null: the path as it is, ended by NUL; otherwise in a form for people, ended by a newline.
    package static func bytes(_ path: RelativePath, null: Bool) -> [UInt8] {
        null ? path.bytes + [0] : Array(DisplayBytes.escaped(path.bytes).utf8) + [0x0A]
    }
}
