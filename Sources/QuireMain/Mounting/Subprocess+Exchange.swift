import Glibc
import QuireCore

extension Subprocess {
    /// How a program answered.
    struct Answer: Sendable, Equatable {
        /// The exit code; 255 when a signal ended it.
        var status: Int32
        var output: String
        var errors: String
    }

    /// Runs it to its end with `input` to read, and returns what it wrote. Blocks; it is killed at the deadline.
    ///
    /// - Parameters:
    ///   - input: at most 64 KiB.
    ///   - environment: beside this process's own, and instead of variables of the same name.
    /// - Throws: `.unavailable` where it cannot be started; `.temporary` when it did not end in time.
    func exchange(
        _ input: [UInt8] = [], environment: [String: String] = [:], deadline: Duration
    ) throws(QuireError) -> Answer {
        var pipes: [OneWay] = []
        defer { for pipe in pipes { pipe.close() } }
        for _ in 0..<3 { pipes.append(try OneWay(path)) }
        // It fits into the buffer: nothing waits here.
        let isGiven = input.withUnsafeBytes { write(pipes[0].writing, $0.baseAddress, $0.count) == $0.count }
        guard input.isEmpty || isGiven else {
            throw QuireError(.failed, "cannot write to \(path): \(String(cString: strerror(errno)))")
        }
        pipes[0].closeWriting()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (descriptor, end) in [pipes[0].reading, pipes[1].writing, pipes[2].writing].enumerated() {
            posix_spawn_file_actions_adddup2(&actions, end, Int32(descriptor))
        }
        let process = try spawn(actions: &actions, flags: 0, environment: environment)
        pipes[1].closeWriting()
        pipes[2].closeWriting()
        let texts = Self.collect([pipes[1].reading, pipes[2].reading], until: .now + deadline)
        guard let texts else {
            kill(process, SIGKILL)
            _ = Self.wait(process)
            throw QuireError(.temporary, "\(path) did not answer within \(deadline.components.seconds) s")
        }
        return Answer(status: Self.wait(process), output: texts[0], errors: texts[1])
    }

    /// What comes through all of them until they end; nil when they do not in time, or too much comes.
    private static func collect(_ descriptors: [Int32], until end: ContinuousClock.Instant) -> [String]? {
        var texts = descriptors.map { _ in [UInt8]() }
        var open = Set(descriptors.indices)
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while !open.isEmpty {
            let order = open.sorted()
            var polls = order.map { pollfd(fd: descriptors[$0], events: Int16(POLLIN), revents: 0) }
            let left = (end - .now).components
            let milliseconds = left.seconds * 1000 + left.attoseconds / 1_000_000_000_000_000
            guard milliseconds > 0 else { return nil }
            let count = poll(&polls, nfds_t(polls.count), Int32(clamping: milliseconds))
            guard count > 0 || errno == EINTR else { return nil }
            for (place, polled) in zip(order, polls) where count > 0 && polled.revents != 0 {
                let length = read(polled.fd, &buffer, buffer.count)
                guard length > 0 else {
                    if length == 0 || errno != EINTR { open.remove(place) }
                    continue
                }
                texts[place] += buffer.prefix(length)
                guard texts[place].count <= 1 << 20 else { return nil }
            }
        }
        return texts.map { String(decoding: $0, as: UTF8.self) }
    }
}

/// Both ends of a connection that one writes to and one reads from, closed once; neither is passed on to a program, as those of
/// a pipe would be to another that starts at the same moment: Swift knows no pipe2(2).
private struct OneWay {
    private(set) var reading: Int32
    private(set) var writing: Int32

    init(_ program: String) throws(QuireError) {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw QuireError(.failed, "cannot start \(program): \(String(cString: strerror(errno)))")
        }
        (reading, writing) = (ends[0], ends[1])
    }

    mutating func closeWriting() {
        Glibc.close(writing)
        writing = -1
    }

    func close() {
        Glibc.close(reading)
        if writing >= 0 { Glibc.close(writing) }
    }
}
