import Glibc
import QuireCore
import QuireStore

/// A home that holds a drive, and whose configuration is not where it is looked for.
extension HomeLocation {
    /// The drive's configuration; nil where there is no drive yet.
    ///
    /// One that is gone is not made anew: nobody would know what keeps the drive, and all would go to the embedded folder.
    /// - Throws: `.unavailable` where it is gone, with what brings it back; what `ConfigurationFile.read` throws.
    func readConfiguration() throws(QuireError) -> ConfigurationReader.Reading? {
        if let reading = try configuration.read() { return reading }
        guard Self.isThere(DriveHome(path: home).indexPath) || Self.isThere(kept.path) else { return nil }
        throw QuireError(
            .unavailable, "\(configurationPath) is missing, but \(home) holds a drive", remedy: try remedyOfLoss())
    }

    private func remedyOfLoss() throws(QuireError) -> String {
        let places = [try kept.origin(), DriveHome(path: home).configPath]
        if let other = places.compactMap(\.self).first(where: { $0 != configurationPath && Self.isThere($0) }),
            let way = way(to: other)
        {
            return "Its configuration is \(other): \(way)"
        }
        guard Self.isThere(kept.path) else {
            let other =
                given == nil
                ? "If XDG_CONFIG_HOME was another when the drive was made, set that again"
                : "If the drive was made without --home, leave that and QUIRE_HOME away"
            return "\(other); else restore the file from a backup, or write it anew as \"When config.toml is lost\" in "
                + "Documentation/OnDiskFormat.md says"
        }
        return "Restore it, or bring back what it said last: "
            + "`install -D -m 600 \(ShellWord.quoted(kept.path)) \(ShellWord.quoted(configurationPath))`"
    }

    /// How the configuration at another path is found; nil where it is that of another home, of which this one is a copy.
    private func way(to other: String) -> String? {
        if other == DriveHome(path: home).configPath { return "name the home, with --home \(ShellWord.quoted(home))" }
        let end = "/quire/config.toml"
        guard other.hasSuffix(end) else {
            return "`install -D -m 600 \(ShellWord.quoted(other)) \(ShellWord.quoted(configurationPath))`"
        }
        guard given == nil || home == usual else { return nil }
        let variable = "XDG_CONFIG_HOME=\(ShellWord.quoted(String(other.dropLast(end.count))))"
        return given == nil ? "set \(variable)" : "leave --home and QUIRE_HOME away, with \(variable)"
    }

    private static func isThere(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }
}
