import Glibc
import QuireCommandLine
import QuireCore

/// The form in which mount(8) and mount.fuse3(8) call a file system's program:
/// `SOURCE MOUNTPOINT [-sfnv] [-N namespace] [-t type] [-o options]`.
///
///     fstab                                  called as
///     quire#HOME  MOUNTPOINT  fuse           quire HOME MOUNTPOINT -o …        by mount.fuse3
///     quire       MOUNTPOINT  fuse           quire MOUNTPOINT -o …             by mount.fuse3
///     HOME        MOUNTPOINT  fuse.quire     mount.fuse.quire HOME MOUNTPOINT -o …, where it is installed
struct MountHelper: Sendable, Equatable {
    /// Nil: the user's own home.
    private(set) var home: String?
    /// As given: mount(8) knows by it that its line of fstab is mounted.
    private(set) var source = "quire"
    private(set) var mountpoint: String
    private(set) var options: [String] = []
    /// The user that the daemon is to run as.
    private(set) var user: String?
    private(set) var isVerbose = false
    /// Find out what is wrong, and mount nothing.
    private(set) var isFake = false

    /// Words in place of a source that name none.
    private static let noSource: Set<String> = ["", "none", "quire"]

    /// Whether this process was called so.
    ///
    /// - Parameters:
    ///   - program: argument 0.
    ///   - arguments: those after it.
    static func isMeant(program: String, arguments: [String]) -> Bool {
        if program.split(separator: "/").last?.hasPrefix("mount.") == true { return true }
        guard let first = arguments.first else { return false }
        // One place alone is no person's order to mount something there: the helper always has options.
        if first.hasPrefix("/") { return arguments.count > 1 }
        return noSource.contains(first) && arguments.count > 1 && arguments[1].hasPrefix("/")
    }

    /// - Throws: `.usage`.
    init(_ arguments: [String]) throws(QuireError) {
        var places: [String] = []
        var rest = arguments[...]
        mountpoint = ""
        while let argument = rest.popFirst() {
            switch argument {
            case "-o":
                for option in (rest.popFirst() ?? "").split(separator: ",") { try add(String(option)) }
            case "-t", "-N": _ = rest.popFirst()
            case _ where argument.hasPrefix("-") && argument.count > 1:
                for letter in argument.dropFirst() {
                    switch letter {
                    case "v": isVerbose = true
                    case "f": isFake = true
                    case "s", "n": break
                    default: throw Self.usage("the option -\(letter) is not known")
                    }
                }
            default: places.append(argument)
            }
        }
        guard places.count == 2 || places.count == 1 && !options.isEmpty, let last = places.last, !last.isEmpty else {
            throw Self.usage("a home and a mountpoint are needed")
        }
        mountpoint = last
        if places.count == 2, !places[0].isEmpty { source = places[0] }
        if !Self.noSource.contains(source) { home = source }
        guard home?.hasPrefix("/") ?? true else { throw Self.usage("the home \(home ?? "") is not an absolute path") }
        guard !mountpoint.hasPrefix("/dev/fd/") else {
            throw QuireError(
                .usage, "the mount option drop_privileges is not supported",
                remedy: "Use setuid=USER: the drive is then mounted by that user, without privileges")
        }
    }

    private mutating func add(_ option: String) throws(QuireError) {
        if option.hasPrefix("setuid=") {
            user = String(option.dropFirst(7))
        } else {
            options.append(option)
        }
    }

    private static func usage(_ message: String) -> QuireError {
        QuireError(.usage, message, remedy: "Form: mount.fuse.quire HOME MOUNTPOINT [-o OPTS], HOME may be `none`")
    }

    /// The arguments of `quire` for those that mount(8) gave; ends the process when they make no sense, or nothing is to be
    /// done.
    static func command(_ arguments: [String]) -> [String] {
        do {
            let helper = try MountHelper(arguments)
            let command = try helper.command()
            guard helper.isFake else { return command }
            _ = try MountRequest(helper.options)
            exit(0)
        } catch {
            Output.error(error)
            exit(error.code.exitCode)
        }
    }

    /// The arguments of `quire` that do it. Becomes the user that the options name, first.
    func command() throws(QuireError) -> [String] {
        if let user { try UserAccount(named: user).become() }
        var arguments = ["mount", "--source", source, mountpoint]
        if !isVerbose { arguments.append("--quiet") }
        // Of libfuse's helper, not for a mount without root.
        let options = geteuid() == 0 ? options : options.filter { $0 != "dev" && $0 != "suid" }
        if !options.isEmpty { arguments += ["-o", options.joined(separator: ",")] }
        if let home, !isDefault(home) { arguments += ["--home", home] }
        return arguments
    }

    /// The user's own home keeps its configuration elsewhere, so it must not be named.
    private func isDefault(_ home: String) -> Bool {
        let own = try? HomeLocation(
            option: nil, environment: { $0 == "QUIRE_HOME" ? nil : HomeOptions.variable($0) }, workingDirectory: "/")
        return own?.home == AbsolutePath.normalized(home, in: "/")
    }
}
