import QuireCommandLine
import QuireCore
import QuireTransport

/// A subcommand's way to the drive: who answers, and how paths are meant.
struct DriveSession: Sendable {
    let location: HomeLocation
    let caller: any DriveCaller
    let paths: DrivePaths
    /// Nil while stopped.
    let daemon: DriveMethods.Hello.Result?

    /// Connects to the daemon.
    ///
    /// - Throws: `.unavailable` when none runs.
    static func daemon(_ options: HomeOptions) async throws(QuireError) -> DriveSession {
        let location = try options.location()
        return try await connected(location, DriveConnection(home: location.home))
    }

    /// Connects to the daemon, or opens the drive in this process when none runs.
    static func daemonOrStopped(_ options: HomeOptions) async throws(QuireError) -> DriveSession {
        let location = try options.location()
        let connection: DriveConnection
        do {
            connection = try DriveConnection(home: location.home)
        } catch {
            guard error.code == .unavailable else { throw error }
            let stopped = StoppedDrive(location: location)
            return DriveSession(location: location, caller: stopped, paths: paths(location, nil), daemon: nil)
        }
        return try await connected(location, connection)
    }

    private static func connected(
        _ location: HomeLocation, _ connection: DriveConnection
    ) async throws(QuireError) -> DriveSession {
        let hello = try await connection.call(DriveMethods.Hello.self)
        return DriveSession(
            location: location, caller: connection, paths: paths(location, hello.mountpoint), daemon: hello)
    }

    private static func paths(_ location: HomeLocation, _ mountpoint: String?) -> DrivePaths {
        DrivePaths(mountpoint: mountpoint, store: location.store, workingDirectory: WorkingDirectory.path)
    }

    /// The paths of arguments, as messages carry them.
    func targets(_ arguments: [String]) throws(QuireError) -> [WirePath] {
        var targets: [WirePath] = []
        for argument in arguments { targets.append(WirePath(try paths.path(argument))) }
        return targets
    }
}
