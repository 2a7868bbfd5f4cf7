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
        let real = DrivePaths.resolved(folder)
        let home = DrivePaths.resolved(location.home)
        for part in ["drive", "data", "staging", "versions"]
        where AbsolutePath.overlap(real, "\(home)/\(part)") {
            throw QuireError(
                .usage, "the folder \(folder) overlaps the drive's own \(home)/\(part)",
                remedy: "Choose a folder elsewhere")
        }
        let drives = MountTable.current().entries.filter(\.isDrive)
        if let mount = drives.first(where: { AbsolutePath.isInside(real, $0.mountpoint) }) {
            throw QuireError(
                .usage, "the folder \(folder) lies on the drive mounted at \(mount.mountpoint)",
                remedy: "Choose a folder elsewhere")
        }
        if let mount = drives.first(where: { AbsolutePath.isInside($0.mountpoint, real) }) {
            throw QuireError(
                .usage, "a drive is mounted in the folder \(folder), at \(mount.mountpoint)",
                remedy: "Choose a folder elsewhere, or mount the drive elsewhere")
        }
        return "folder:\(folder)"
    }

    /// Whether the documents at one URL are among those at the other: see `QuireProviders.ProviderURL.isNested`.
    static func areNested(_ url: String, _ other: String) -> Bool {
        guard let one = real(url), let two = real(other) else { return false }
        return one.isNested(two)
    }

    /// Of a folder the URL without symbolic links; nil for what is no provider's URL.
    private static func real(_ url: String) -> QuireProviders.ProviderURL? {
        if let folder = folder(url) { return QuireProviders.ProviderURL(folder: DrivePaths.resolved(folder)) }
        return try? QuireProviders.ProviderURL(url)
    }
}
