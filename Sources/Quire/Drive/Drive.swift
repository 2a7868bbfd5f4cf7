public import Foundation
import QuireCore
import QuireTransport
import Synchronization

/// A drive that is mounted on this machine, and the process's one connection to its daemon.
///
/// Coordinators and presenters find the drive of a URL by themselves; an app needs this type to learn where its containers
/// are, and whether the drive is running. The connection is made when it is first needed and made again when the daemon
/// was restarted; presenters are registered again by themselves. All members may be used from any thread.
public final class Drive: Sendable {
    /// The drive's home directory, absolute.
    public let home: String
    let link: DriveLink

    init(home: String) {
        self.home = home
        self.link = DriveLink(home: home)
    }

    // MARK: Finding

    /// The running drive with this home.
    ///
    /// - Parameter home: its directory; nil: what `QUIRE_HOME` says, else `$XDG_DATA_HOME/quire`.
    /// - Throws: `.unavailable` when it does not run, `.notAllowed` for another user's.
    public static func running(home: String? = nil) async throws(QuireError) -> Drive {
        let drive = try DriveRegistry.shared.drive(home: home)
        _ = try await drive.link.session()
        return drive
    }

    /// The drive on whose mount a file lies.
    ///
    /// - Throws: `.usage` for a URL that is no file's or lies on no drive, `.unavailable` where the drive does not run.
    public static func containing(_ url: URL) async throws(QuireError) -> Drive {
        try await LibraryExecutor.run { () throws(QuireError) in try await ItemLocation.of(url).drive }
    }

    /// Where a container's documents are: the counterpart of `FileManager.url(forUbiquityContainerIdentifier:)`.
    ///
    /// - Parameters:
    ///   - identifier: as in `quire container create`; nil for the default container, which is the drive's root.
    ///   - home: as of `running(home:)`.
    /// - Returns: nil when the drive is not running, or has no such container.
    public static func url(forContainer identifier: String?, home: String? = nil) async -> URL? {
        guard let drive = try? await running(home: home) else { return nil }
        return try? await drive.url(forContainer: identifier)
    }

    // MARK: Places

    /// Where the drive is mounted.
    ///
    /// - Throws: `.unavailable` when it does not run.
    public func mountpoint() async throws(QuireError) -> URL { try await link.session().mount.url(.root) }

    /// Where a container's documents are.
    ///
    /// - Parameter identifier: nil for the default container.
    /// - Throws: `.notFound` where there is no such container, `.unavailable` when the drive does not run.
    public func url(forContainer identifier: String?) async throws(QuireError) -> URL {
        let session = try await link.session()
        guard let identifier else { return session.mount.url(.root, isDirectory: true) }
        let containers = try await session.connection.call(SetupMethods.ContainerList.self).containers
        guard let container = containers.first(where: { $0.id.rawValue == identifier }) else {
            throw QuireError(
                .notFound, "the drive has no container \(identifier)",
                remedy: "Create it with `quire container create \(identifier)`")
        }
        guard let name = FileName(Array(container.name.utf8)) else {
            return session.mount.url(.root, isDirectory: true)
        }
        return session.mount.url(RelativePath([name]), isDirectory: true)
    }
}
