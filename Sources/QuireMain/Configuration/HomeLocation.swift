import Glibc
import QuireCore

/// Where a drive's home and its configuration are.
struct HomeLocation: Sendable, Equatable {
    /// Absolute, without a trailing slash.
    let home: String
    let configurationPath: String
    /// The home as it was given; nil: the XDG directories hold both.
    let given: String?
    /// Where the home is when none is given; nil: nothing tells.
    let usual: String?

    var configuration: ConfigurationFile { ConfigurationFile(path: configurationPath, kept: kept) }
    /// What the configuration said last.
    var kept: KeptConfiguration { KeptConfiguration(path: "\(home)/config.toml.last") }
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
        let found = try HomePath(option: option, environment: environment, workingDirectory: workingDirectory)
        home = found.path
        usual = try? HomePath(
            option: nil, environment: { $0 == "QUIRE_HOME" ? nil : environment($0) }, workingDirectory: workingDirectory
        ).path
        if found.isGiven {
            configurationPath = "\(home)/config.toml"
            given = home
            return
        }
        let configurations = try HomePath.base("XDG_CONFIG_HOME", ".config", environment, workingDirectory)
        configurationPath = "\(configurations)/quire/config.toml"
        given = nil
    }
}
