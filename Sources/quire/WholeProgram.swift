import Glibc
import QuireCommandLine

/// The program that has all commands: `quire-main`, beside this one, or in `libexec` where it is installed.
enum WholeProgram {
    private static let name = "quire-main"

    /// Whether this process was started as mount(8) starts a helper.
    static var isMountHelper: Bool {
        CommandLine.arguments.first?.split(separator: "/").last?.hasPrefix("mount.") ?? false
    }

    /// Becomes it, with the same arguments, this program's name among them.
    static func become() -> Never {
        let own = executable()
        let directory = own.map { $0[..<($0.lastIndex(of: UInt8(ascii: "/")) ?? 0)] } ?? []
        for place in ["/\(name)", "/../libexec/quire/\(name)"] {
            let path = (directory + Array(place.utf8)).map { CChar(bitPattern: $0) } + [0]
            execv(path, CommandLine.unsafeArgv)
        }
        let place = String(decoding: directory, as: UTF8.self)
        Output.message(
            "cannot start \(name), which belongs beside this program (in \(place)): \(String(cString: strerror(errno)))"
        )
        exit(69)
    }

    /// Where this program lies; nil where there is no `/proc`.
    private static func executable() -> [UInt8]? {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &path, path.count)
        return count > 0 ? path[..<count].map { UInt8(bitPattern: $0) } : nil
    }
}
