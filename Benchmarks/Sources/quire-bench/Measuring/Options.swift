import Glibc

/// What the command line asked for.
struct Options {
    /// The binary to measure.
    var quire = ".build/release/quire"
    /// Where the fresh directories are made: each place gets a table.
    var places: [String] = []
    /// Keys of the rows; empty: all.
    var only: [String] = []
    /// Names of the subjects; empty: all.
    var subjects: [String] = []
    var rounds: Int?
    /// Few operations and one round: shows that everything runs, not how fast.
    var isQuick = false
    /// Where the tables go, besides standard output.
    var markdown: String?
    /// Whether a missed target makes the exit code 1.
    var isCheck = false
    /// Attached to the servers while they are measured.
    var observer: Observer?
    /// Counts requests to the daemon instead of time.
    var isTrips = false
    /// Measures very large trees instead.
    var isScale = false

    static let usage = """
        usage: quire-bench [--quire BINARY] [--on tmpfs|ext4|DIRECTORY]… [--only ROW,…] [--subjects NAME,…]
                           [--rounds N] [--quick] [--markdown FILE] [--check] [--trips] [--scale] [--list]
                           [--attach "COMMAND WITH {pid} AND {row}"]
        """

    init(_ arguments: [String]) throws(BenchmarkError) {
        var rest = arguments[...]
        while let name = rest.popFirst() {
            if try flag(name) { continue }
            guard let value = rest.popFirst() else { throw BenchmarkError(Self.usage) }
            switch name {
            case "--quire": quire = value
            case "--on": places += Self.words(value)
            case "--only": only += Self.words(value)
            case "--subjects": subjects += Self.words(value)
            case "--rounds": rounds = try Self.number(value)
            case "--markdown": markdown = value
            case "--attach": observer = Observer(command: value.split(separator: " ").map(String.init))
            default: throw BenchmarkError(Self.usage)
            }
        }
        if places.isEmpty { places = ["tmpfs", "ext4"] }
        for key in only where !Row.all.contains(where: { $0.key == key }) {
            throw BenchmarkError("no row is named \(key): see --list")
        }
        for name in subjects where !Subject.Kind.allCases.contains(where: { $0.rawValue == name }) {
            let names = Subject.Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw BenchmarkError("no subject is named \(name): \(names)")
        }
    }

    var sizes: Sizes { isQuick ? .quick : isTrips ? .trips : .full }

    func wants(_ kind: Subject.Kind) -> Bool { subjects.isEmpty || subjects.contains(kind.rawValue) }

    private mutating func flag(_ name: String) throws(BenchmarkError) -> Bool {
        switch name {
        case "--quick": isQuick = true
        case "--check": isCheck = true
        case "--trips": isTrips = true
        case "--scale": isScale = true
        case "--list":
            for row in Row.all { print("\(row.key)\t\(row.name)") }
            exit(0)
        case "--help", "-h":
            print(Self.usage)
            exit(0)
        default: return false
        }
        return true
    }

    private static func words(_ text: String) -> [String] { text.split(separator: ",").map(String.init) }

    private static func number(_ text: String) throws(BenchmarkError) -> Int {
        guard let number = Int(text), number > 0 else { throw BenchmarkError("\(text) is not a number above 0") }
        return number
    }
}

/// A measurement that could not be made, and why.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    /// A system call that failed, with its errno.
    init(_ call: String, _ path: String) { description = "\(call) \(path): \(String(cString: strerror(errno)))" }
}
