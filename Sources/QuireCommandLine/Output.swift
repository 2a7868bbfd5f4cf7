import Glibc
package import QuireCore

/// Standard output and standard error.
package enum Output {
    /// Writes bytes as they are.
    package static func write(_ bytes: [UInt8], to descriptor: Int32 = STDOUT_FILENO) {
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
    package static func line(_ text: String) { write(Array((text + "\n").utf8)) }

    /// A message to people, on standard error.
    package static func message(_ text: String) { write(Array("quire: \(text)\n".utf8), to: STDERR_FILENO) }

    /// A question to a person at the terminal, without a line's end.
    package static func prompt(_ text: String) { write(Array(text.utf8), to: STDERR_FILENO) }

    /// An error: what failed, and what to do.
    package static func error(_ error: QuireError) { message(error.description) }

    /// Whether a person sees standard output.
    package static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
}
