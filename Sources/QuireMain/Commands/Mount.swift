import ArgumentParser
import Glibc
import QuireCommandLine
import QuireCore
import QuireStore
import QuireTransport

struct Mount: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mount", abstract: "Mount the drive.",
        discussion: """
            Starts the drive's daemon in the background and returns when the drive answers. The first use makes the home, with a \
            folder in it as the provider. A mountpoint that is missing is made where its parent exists. The dead mount of a \
            daemon that crashed is replaced, a daemon that is just ending is waited for, and a drive that is mounted there \
            already is left as it is.

            OPTS, separated by commas: allow_other (other users may enter; as a user this needs user_allow_other in \
            /etc/fuse.conf), default_permissions (the kernel checks modes, as it does in all mounts but those that are root's \
            alone), readers=N (threads that take requests, 1 to 16), nopassthrough (no kernel passthrough), nowriteback (where \
            there is none, the kernel does not collect writes until a file is closed or synced), debug (log every request); \
            ro, noexec, nosuid, nodev, noatime, sync and their opposites as in mount(8).

            In fstab: `quire#HOME MOUNTPOINT fuse OPTS`, or `HOME MOUNTPOINT fuse.quire OPTS`; with setuid=USER as that user, \
            and `none` in place of HOME for the user's own.

            With --systemd the daemon stays in the foreground, tells the service manager when the drive answers (Type=notify), \
            and marks the lines of its log for the journal.
            """)

    @OptionGroup var home: HomeOptions

    @Argument(help: "An empty directory. Default: ~/Drive.")
    var mountpoint: String?

    @Flag(name: [.customShort("f"), .customLong("foreground")], help: "Stay in the foreground; log to standard error.")
    var foreground = false

    @Flag(help: "Stay in the foreground as a service of systemd.")
    var systemd = false

    @Option(name: .customShort("o"), help: ArgumentHelp("Options of the mount.", valueName: "opts"))
    var options: [String] = []

    @Flag(name: .shortAndLong, help: "Log more.")
    var verbose = false

    @Flag(help: .hidden)
    var quiet = false

    @Option(help: .hidden)
    var source = "quire"

    @Option(name: .customLong("daemon-fd"), help: .hidden)
    var daemonDescriptor: Int32?

    func run() async throws {
        let report = LaunchReport(
            descriptor: daemonDescriptor, serviceManager: systemd ? ServiceManager.fromEnvironment() : nil)
        do {
            let plan = try MountPlan(
                location: home.location(), mountpoint: mountpoint, options: options, verbose: verbose, source: source)
            if daemonDescriptor != nil {
                try await Daemon.run(plan, report: report)
            } else if foreground || systemd {
                try await runInForeground(plan, report)
            } else {
                try await startInBackground(plan)
            }
        } catch let error as QuireError {
            report.failed(error)
            throw error
        }
    }

    private func runInForeground(_ plan: MountPlan, _ report: LaunchReport) async throws {
        if let daemon = try await HomeStanding(location: plan.location).daemon(), try plan.isDone(by: daemon) {
            throw QuireError(
                .unavailable, "\(daemon.mountpoint) is mounted already, by the daemon with process id \(daemon.pid)",
                remedy: "Unmount it first with `quire unmount`")
        }
        try await Daemon.run(plan, report: report, log: systemd ? .journal : .terminal)
    }

    private func startInBackground(_ plan: MountPlan) async throws {
        let standing = HomeStanding(location: plan.location)
        if let daemon = try await standing.daemon(), try plan.isDone(by: daemon) { return tellMounted(daemon) }
        do {
            try await start(plan)
        } catch {
            // Another `quire mount` of the same home may have been faster.
            guard standing.isHeld(), let daemon = try await standing.daemon(), try plan.isDone(by: daemon) else {
                throw error
            }
            tellMounted(daemon)
        }
    }

    private func tellMounted(_ daemon: DriveMethods.Hello.Result) {
        if !quiet { Output.line("Your drive is at \(daemon.mountpoint) already (process id \(daemon.pid))") }
    }

    private func start(_ plan: MountPlan) async throws {
        _ = try plan.check()
        for option in plan.options.ignored {
            Output.message("the option \(option) has no effect: files are as they are")
        }
        let location = plan.location
        try DaemonLauncher.prepareHome(location)
        var arguments = ["mount", "--daemon-fd", "3", "--source", source, plan.mountpointArgument]
        if let given = location.given { arguments += ["--home", given] }
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
        if !quiet { try await greet(mountpoint, location) }
    }

    private func greet(_ mountpoint: String, _ location: HomeLocation) async throws {
        let providers = try await DriveConnection(home: location.home).call(SetupMethods.ProviderList.self).providers
        let keeper = try Self.keeper(mountpoint)
        let provider = providers.first { $0.name == keeper }
        Output.line(Greeting.text(mountpoint: mountpoint, provider: provider, home: location.given))
    }

    /// Not always the one that the configuration has by now.
    private static func keeper(_ mountpoint: String) throws(QuireError) -> String? {
        do throws(StoreError) {
            let root = try OwnedDescriptor.open(mountpoint, O_RDONLY | O_DIRECTORY)
            return try root.attribute("user.quire.provider", mountpoint).map { String(decoding: $0, as: UTF8.self) }
        } catch {
            throw QuireError(error)
        }
    }
}
