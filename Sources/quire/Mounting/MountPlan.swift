import Glibc
import Quire
import QuireCore

/// What `quire mount` was asked to do.
struct MountPlan: Sendable {
    let location: HomeLocation
    /// Normalized.
    let mountpointArgument: String
    let options: MountRequest
    let verbose: Bool

    init(location: HomeLocation, mountpoint: String?, options: [String], verbose: Bool) throws(QuireError) {
        self.location = location
        self.options = try MountRequest(options)
        self.verbose = verbose
        if let mountpoint {
            guard !mountpoint.isEmpty else { throw QuireError(.usage, "the mountpoint is empty") }
            mountpointArgument = AbsolutePath.normalized(mountpoint, in: HomeOptions.workingDirectory)
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
        let configuration = try location.configuration.read()?.configuration
        let folders = configuration?.providers.compactMap { ProviderURL.folder($0.url) } ?? []
        return try Mountpoint.check(
            mountpointArgument, location: location,
            folders: folders.filter { !AbsolutePath.isInside($0, location.home) })
    }

    /// - Throws: `.unavailable`, naming the process that serves this home already.
    func refuseSecondDaemon() async throws(QuireError) {
        // That none answers is the ordinary case; the lock on the home decides later.
        guard let connection = try? DriveConnection(home: location.home) else { return }
        defer { connection.close() }
        let hello = try await connection.call(DriveMethods.Hello.self)
        throw QuireError(
            .unavailable,
            "the drive in \(location.home) is already mounted at \(hello.mountpoint) by the daemon with process id \(hello.pid)",
            remedy: "Unmount it first with `quire unmount`")
    }
}

/// The options of `-o`.
struct MountRequest: Sendable, Equatable {
    var allowOther = false
    var readers: Int?
    var passthrough = true
    var debug = false

    /// - Parameter options: each may be several, separated by commas.
    init(_ options: [String] = []) throws(QuireError) {
        for option in options.flatMap({ $0.split(separator: ",") }) {
            switch option {
            case "allow_other": allowOther = true
            case "nopassthrough": passthrough = false
            case "debug": debug = true
            // What mount(8) adds by itself, and what holds anyway.
            case "rw", "default_permissions", "nosuid", "nodev", "noatime": break
            default:
                guard option.hasPrefix("readers="), let count = Int(option.dropFirst(8)), (1...16).contains(count)
                else {
                    throw QuireError(
                        .usage, "the mount option \"\(option)\" is not known",
                        remedy: "Known are allow_other, readers=1…16, nopassthrough, debug")
                }
                readers = count
            }
        }
    }
}
