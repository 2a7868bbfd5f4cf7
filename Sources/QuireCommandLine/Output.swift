import Glibc
package import QuireCore
import Synchronization

/// Standard output and standard error.
package enum Output {
    /// The first errno with which standard output was refused; 0 where all was taken.
    private static let refusal = Atomic<Int32>(0)

    /// Writes bytes as they are. What cannot be written of a command's output is told at its end: see `requireTaken`.
    package static func write(_ bytes: [UInt8], to descriptor: Int32 = STDOUT_FILENO) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN {
                var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&room, 1, -1)
                continue
            }
            guard count > 0 else {
                // A reader that went away (EPIPE) wants no more.
                if descriptor == STDOUT_FILENO, errno != EPIPE {
                    _ = refusal.compareExchange(expected: 0, desired: errno, ordering: .relaxed)
                }
                return
            }
            rest = rest.dropFirst(count)
        }
    }

    /// - Throws: `.failed` where some of the output was not taken, as by a disk that is full.
    package static func requireTaken() throws(QuireError) {
        let code = refusal.load(ordering: .relaxed)
        guard code != 0 else { return }
        throw QuireError(.failed, "the output is not whole: \(String(cString: strerror(code)))")
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
