import Glibc

/// A program that watches a subject's process while a row is measured: a profiler, a tracer.
struct Observer {
    /// `{pid}` and `{row}` are replaced in each word.
    let command: [String]

    /// Runs a body with the program attached, and ends it by an interrupt.
    func watching<Result>(_ server: pid_t?, row: String, _ body: () throws -> Result) throws -> Result {
        guard let server else { return try body() }
        let words = command.map { Self.filled($0, ["{pid}": "\(server)", "{row}": row]) }
        let observer = try Program.start(words, log: "/dev/null")
        // Nothing tells that it is attached.
        usleep(700_000)
        defer {
            kill(observer, SIGINT)
            _ = Program.wait(observer)
        }
        return try body()
    }

    private static func filled(_ word: String, _ values: [String: String]) -> String {
        var rest = Substring(word)
        var result = ""
        while !rest.isEmpty {
            if let (name, value) = values.first(where: { rest.hasPrefix($0.key) }) {
                result += value
                rest = rest.dropFirst(name.count)
            } else {
                result.append(rest.removeFirst())
            }
        }
        return result
    }
}
