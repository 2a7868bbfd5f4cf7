import ArgumentParser
import Glibc
import QuireCommandLine
import QuireCore

/// Options that every subcommand takes.
struct HomeOptions: ParsableArguments {
    @Option(
        name: .customLong("home"),
        help: ArgumentHelp(
            "The drive's home directory.",
            discussion: "Default: the variable QUIRE_HOME, else $XDG_DATA_HOME/quire (~/.local/share/quire).",
            valueName: "dir"))
    var path: String?

    /// Where the home is.
    func location() throws(QuireError) -> HomeLocation {
        try HomeLocation(
            option: path.map(Self.decoded), environment: Self.variable, workingDirectory: WorkingDirectory.path)
    }

    /// An environment variable. HOME is the user's directory also where it is not set, as below mount(8).
    static func variable(_ name: String) -> String? {
        if let value = getenv(name).map({ String(cString: $0) }), !value.isEmpty { return value }
        guard name == "HOME" else { return nil }
        return UserAccount.current()?.directory
    }

    private static func decoded(_ text: String) -> String { String(decoding: ArgumentBytes.bytes(text), as: UTF8.self) }

    /// `--home` before the subcommand is moved into the environment, where every subcommand finds it.
    static func takingLeadingHome(_ arguments: [String], set: (String) -> Void) -> [String] {
        var rest = arguments[...]
        while let first = rest.first {
            if first == "--home", rest.count > 1 {
                set(decoded(rest[rest.index(after: rest.startIndex)]))
                rest = rest.dropFirst(2)
            } else if first.hasPrefix("--home=") {
                set(decoded(String(first.dropFirst(7))))
                rest = rest.dropFirst()
            } else {
                break
            }
        }
        return Array(rest)
    }
}
