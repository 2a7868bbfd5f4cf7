import Glibc

/// What the command line asked for.
struct Options {
    /// The binary to measure.
    var quire = ".build/release/quire"
    /// The file system that all subjects share: a fresh directory is made in it.
    var root = "/dev/shm"
    var files = 10_000
    var rounds = 3
    /// Where the table goes, besides standard output.
    var markdown: String?
    /// Whether documents are uploaded meanwhile; without, the drive alone is measured.
    var uploads = false

    static let usage = """
        usage: quire-bench [--quire BINARY] [--root DIRECTORY] [--files N] [--rounds N] [--uploads] [--markdown FILE]
        """

    init(_ arguments: [String]) throws(BenchmarkError) {
        var rest = arguments[...]
        while let name = rest.popFirst() {
            if name == "--uploads" {
                uploads = true
                continue
            }
            guard let value = rest.popFirst() else { throw BenchmarkError(Self.usage) }
            switch name {
            case "--quire": quire = value
            case "--root": root = value
            case "--markdown": markdown = value
            case "--files": files = try Self.number(value)
            case "--rounds": rounds = try Self.number(value)
            default: throw BenchmarkError(Self.usage)
            }
        }
    }

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
