import Glibc
import QuireCore

/// Where a drive's home and its configuration are.
struct HomeLocation: Sendable, Equatable {
    /// Absolute, without a trailing slash.
    let home: String
    let configurationPath: String
    /// The home as it was given; nil: the XDG directories hold both.
    let given: String?

    var configuration: ConfigurationFile { ConfigurationFile(path: configurationPath) }
    var socketPath: String { "\(home)/daemon.sock" }
    var logPath: String { "\(home)/daemon.log" }
    var store: String { "\(home)/drive" }

    /// `--home` comes first, then `QUIRE_HOME`; with either, everything is under it. Else the XDG directories.
    ///
    /// - Parameters:
    ///   - option: what `--home` says.
    ///   - environment: looks up a variable.
    ///   - workingDirectory: what relative paths start from.
    init(option: String?, environment: (String) -> String?, workingDirectory: String) throws(QuireError) {
        func set(_ name: String) -> String? { environment(name).flatMap { $0.isEmpty ? nil : $0 } }
        if let given = option ?? set("QUIRE_HOME") {
            guard !given.isEmpty else { throw QuireError(.usage, "--home is empty") }
            home = AbsolutePath.normalized(given, in: workingDirectory)
            configurationPath = "\(home)/config.toml"
            self.given = home
            return
        }
        func base(_ variable: String, _ fallback: String) throws(QuireError) -> String {
            // The XDG specification: a relative value is to be ignored.
            if let value = set(variable), value.hasPrefix("/") { return AbsolutePath.normalized(value, in: "/") }
            guard let user = set("HOME") else {
                throw QuireError(
                    .usage, "neither --home, QUIRE_HOME, \(variable) nor HOME is set", remedy: "Give --home DIR")
            }
            return AbsolutePath.normalized("\(user)/\(fallback)", in: workingDirectory)
        }
        home = try base("XDG_DATA_HOME", ".local/share") + "/quire"
        configurationPath = try base("XDG_CONFIG_HOME", ".config") + "/quire/config.toml"
        given = nil
    }
}

/// Paths as text.
enum AbsolutePath {
    /// Absolute, without `.`, `..`, doubled or trailing slashes. Works on the text alone: symlinks are not looked at.
    static func normalized(_ path: String, in directory: String) -> String {
        let whole = path.hasPrefix("/") ? path : "\(directory)/\(path)"
        var parts: [Substring] = []
        for part in whole.split(separator: "/") where part != "." {
            if part == ".." {
                _ = parts.popLast()
            } else {
                parts.append(part)
            }
        }
        return "/" + parts.joined(separator: "/")
    }

    /// Whether `path` is `directory` or lies below it; both normalized.
    static func isInside(_ path: String, _ directory: String) -> Bool {
        directory == "/" || path == directory || path.hasPrefix(directory + "/")
    }
}
