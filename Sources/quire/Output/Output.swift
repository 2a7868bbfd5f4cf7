import Glibc
import QuireCore

/// Standard output and standard error.
enum Output {
    /// Writes bytes as they are.
    static func write(_ bytes: [UInt8], to descriptor: Int32 = STDOUT_FILENO) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            // A reader that went away (EPIPE) wants no more.
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Writes one line.
    static func line(_ text: String) { write(Array((text + "\n").utf8)) }

    /// Writes a value as one line of JSON, its members in alphabetical order.
    static func json(_ value: some Encodable) throws { write(try WireCodec.line(value)) }

    /// A message to people, on standard error.
    static func message(_ text: String) { write(Array("quire: \(text)\n".utf8), to: STDERR_FILENO) }

    /// A question to a person at the terminal, without a line's end.
    static func prompt(_ text: String) { write(Array(text.utf8), to: STDERR_FILENO) }

    /// An error: what failed, and what to do.
    static func error(_ error: QuireError) { message(error.description) }

    /// Whether a person sees standard output.
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
}
