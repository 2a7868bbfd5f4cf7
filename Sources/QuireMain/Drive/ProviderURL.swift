import QuireCore
import QuireProviders

/// The URLs of providers, checked.
enum ProviderURL {
    /// The directory that a `folder:` URL names, normalized; nil for other URLs.
    static func folder(_ url: String) -> String? {
        guard url.hasPrefix("folder:") else { return nil }
        var path = url.dropFirst("folder:".count)
        if path.hasPrefix("//") { path = path.dropFirst(2) }
        return path.hasPrefix("/") ? AbsolutePath.normalized(String(path), in: "/") : nil
    }

    /// The URL as it is kept in the configuration.
    ///
    /// - Throws: `.usage`, saying what a URL looks like.
    static func checked(_ url: String, location: HomeLocation) throws(QuireError) -> String {
        guard let folder = folder(url) else { return "\(try QuireProviders.ProviderURL(url))" }
        let real = DrivePaths.realPath(folder) ?? folder
        let home = DrivePaths.realPath(location.home) ?? location.home
        for part in ["drive", "data", "staging", "versions"]
        where AbsolutePath.isInside(real, "\(home)/\(part)") || AbsolutePath.isInside("\(home)/\(part)", real) {
            throw QuireError(
                .usage, "the folder \(folder) overlaps the drive's own \(home)/\(part)",
                remedy: "Choose a folder elsewhere")
        }
        if let mount = MountTable.current().entries.first(where: {
            $0.isDrive && AbsolutePath.isInside(real, $0.mountpoint)
        }) {
            throw QuireError(
                .usage, "the folder \(folder) lies on the drive mounted at \(mount.mountpoint)",
                remedy: "Choose a folder elsewhere")
        }
        return "folder:\(folder)"
    }
}
