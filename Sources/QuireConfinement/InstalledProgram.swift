import Glibc

/// Programs of this machine.
package enum InstalledProgram {
    /// Where programs are looked for.
    package static let path = ["/usr/local/bin", "/usr/bin", "/bin"]

    /// The absolute path of a program, given by name or by absolute path; nil where none can be executed.
    package static func find(_ name: String, in path: [String] = path) -> String? {
        let candidates = name.hasPrefix("/") ? [name] : path.map { "\($0)/\(name)" }
        return candidates.first { access($0, X_OK) == 0 }
    }
}
