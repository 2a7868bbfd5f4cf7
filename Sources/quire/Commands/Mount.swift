import ArgumentParser
import Glibc
import Quire
import QuireCore

struct Mount: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Mount the drive.",
        discussion: """
            Starts the drive's daemon in the background and returns when the drive answers. The first use makes the home, with a \
            folder in it as the provider. A mountpoint that is missing is made where its parent exists.

            OPTS, separated by commas: allow_other (other users may enter; as a user this needs user_allow_other in \
            /etc/fuse.conf), readers=N (threads that take requests, 1 to 16), nopassthrough (no kernel passthrough), debug.
            """)

    @OptionGroup var home: HomeOptions

    @Argument(help: "An empty directory. Default: ~/Drive.")
    var mountpoint: String?

    @Flag(name: [.customShort("f"), .customLong("foreground")], help: "Stay in the foreground; log to standard error.")
    var foreground = false

    @Option(name: .customShort("o"), help: ArgumentHelp("Options of the mount.", valueName: "opts"))
    var options: [String] = []

    @Flag(name: .shortAndLong, help: "Log more.")
    var verbose = false

    @Option(name: .customLong("daemon-fd"), help: .hidden)
    var daemonDescriptor: Int32?

    func run() async throws {
        let report = LaunchReport(descriptor: daemonDescriptor)
        do {
            let plan = try MountPlan(
                location: home.location(), mountpoint: mountpoint, options: options, verbose: verbose)
            if foreground || daemonDescriptor != nil {
                try await Daemon.run(plan, report: report)
            } else {
                try await startInBackground(plan)
            }
        } catch let error as QuireError {
            report.failed(error)
            throw error
        }
    }

    private func startInBackground(_ plan: MountPlan) async throws {
        try await plan.refuseSecondDaemon()
        _ = try plan.check()
        let location = plan.location
        try DaemonLauncher.prepareHome(location)
        var arguments = ["mount", "--home", location.home, "--daemon-fd", "3", plan.mountpointArgument]
        for option in options { arguments += ["-o", option] }
        if verbose { arguments.append("--verbose") }
        try DaemonLauncher(location: location, arguments: arguments).start()
        let hello = try await DriveConnection(home: location.home).call(DriveMethods.Hello.self)
        for note in hello.notes { Output.message(note) }
        let mountpoint = hello.mountpoint
        var status = stat()
        guard stat(mountpoint, &status) == 0 else {
            throw QuireError(
                .unavailable, "the drive at \(mountpoint) does not answer: \(String(cString: strerror(errno)))",
                remedy: "See \(location.logPath)")
        }
        try await greet(mountpoint)
    }

    private func greet(_ mountpoint: String) async throws {
        let drive = try await DriveSession.daemon(home)
        let providers = try await drive.caller.call(SetupMethods.ProviderList.self).providers
        Output.line(Greeting.text(mountpoint: mountpoint, provider: providers.first(where: \.isDefault)))
    }
}
