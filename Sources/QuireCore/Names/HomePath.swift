/// Where a drive's home is when nobody has said so, or somebody has.
package struct HomePath: Sendable, Equatable {
    /// Absolute, without a trailing slash.
    package let path: String
    /// Whether an option or `QUIRE_HOME` names it: then its configuration lies in it, too.
    package let isGiven: Bool

    /// An option comes first, then `QUIRE_HOME`, else the XDG directory for data.
    ///
    /// - Parameters:
    ///   - option: what `--home` says.
    ///   - environment: looks up a variable.
    ///   - workingDirectory: what relative paths start from.
    /// - Throws: `.usage` where nothing says where it is.
    package init(
        option: String?, environment: (String) -> String?, workingDirectory: String
    ) throws(QuireError) {
        let variable = environment("QUIRE_HOME").flatMap { $0.isEmpty ? nil : $0 }
        guard let given = option ?? variable else {
            path = try Self.base("XDG_DATA_HOME", ".local/share", environment, workingDirectory) + "/quire"
            isGiven = false
            return
        }
        guard !given.isEmpty else { throw QuireError(.usage, "--home is empty") }
        path = AbsolutePath.normalized(given, in: workingDirectory)
        isGiven = true
    }

    /// The value of an XDG variable, else `fallback` in the user's directory.
    package static func base(
        _ variable: String, _ fallback: String, _ environment: (String) -> String?, _ workingDirectory: String
    ) throws(QuireError) -> String {
        func set(_ name: String) -> String? { environment(name).flatMap { $0.isEmpty ? nil : $0 } }
        // The XDG specification: a relative value is to be ignored.
        if let value = set(variable), value.hasPrefix("/") { return AbsolutePath.normalized(value, in: "/") }
        guard let user = set("HOME") else {
            throw QuireError(
                .usage, "neither --home, QUIRE_HOME, \(variable) nor HOME is set", remedy: "Give --home DIR")
        }
        return AbsolutePath.normalized("\(user)/\(fallback)", in: workingDirectory)
    }
}
