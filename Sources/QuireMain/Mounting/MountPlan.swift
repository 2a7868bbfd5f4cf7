import Glibc
import QuireCommandLine
import QuireCore

/// What `quire mount` was asked to do.
struct MountPlan: Sendable {
    let location: HomeLocation
    /// Normalized.
    let mountpointArgument: String
    let options: MountRequest
    let verbose: Bool
    /// What the kernel's list of mounts shows as the source.
    let source: String

    init(
        location: HomeLocation, mountpoint: String?, options: [String], verbose: Bool, source: String = "quire"
    ) throws(QuireError) {
        self.location = location
        self.options = try MountRequest(options)
        self.verbose = verbose
        self.source = source
        if let mountpoint {
            guard !mountpoint.isEmpty else { throw QuireError(.usage, "the mountpoint is empty") }
            mountpointArgument = AbsolutePath.normalized(mountpoint, in: WorkingDirectory.path)
        } else {
            guard let user = HomeOptions.variable("HOME"), user.hasPrefix("/") else {
                throw QuireError(.usage, "no mountpoint, and HOME is not set", remedy: "Give a mountpoint")
            }
            mountpointArgument = AbsolutePath.normalized("\(user)/Drive", in: "/")
        }
        guard mountpointArgument != "/" else {
            throw QuireError(.usage, "the mountpoint is /", remedy: "Choose another")
        }
    }

    /// All that can be known to fail before anything is changed.
    func check() throws(QuireError) -> Mountpoint {
        try FuseDevice.check()
        if options.allowOther { try FuseConfiguration.checkSharing() }
        let configuration = try location.readConfiguration()?.configuration
        let folders = configuration?.providers.compactMap { ProviderURL.folder($0.url) } ?? []
        return try Mountpoint.check(
            mountpointArgument, location: location,
            folders: folders.filter { !AbsolutePath.isInside($0, location.home) })
    }

    /// Whether `daemon` serves the home where it is wanted.
    ///
    /// - Throws: `.unavailable`, naming the process, when it serves it elsewhere.
    func isDone(by daemon: DriveMethods.Hello.Result) throws(QuireError) -> Bool {
        let wanted = DrivePaths.resolved(mountpointArgument)
        guard daemon.mountpoint != wanted else { return true }
        throw QuireError(
            .unavailable,
            "the drive in \(location.home) is already mounted at \(daemon.mountpoint) by the daemon with process id \(daemon.pid)",
            remedy: "Unmount it first with `quire unmount`")
    }
}
