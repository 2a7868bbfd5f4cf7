/// Directories of the desktop. (XDG Base Directory Specification)
package enum XDGDirectories {
    /// Where data of a kind lies, the user's own first: `NAME` in `$XDG_DATA_HOME` and in each of `$XDG_DATA_DIRS`. Relative
    /// ones are ignored.
    ///
    /// - Parameter environment: looks up a variable.
    package static func data(_ name: String, environment: (String) -> String?) -> [String] {
        let home =
            environment("XDG_DATA_HOME").flatMap { $0.hasPrefix("/") ? $0 : nil }
            ?? environment("HOME").map { $0 + "/.local/share" }
        let system = environment("XDG_DATA_DIRS").flatMap { $0.isEmpty ? nil : $0 } ?? "/usr/local/share:/usr/share"
        let all = [home].compactMap { $0 } + system.split(separator: ":").map(String.init)
        return all.filter { $0.hasPrefix("/") }.prefix(64).map { $0.hasSuffix("/") ? $0 + name : "\($0)/\(name)" }
    }
}
