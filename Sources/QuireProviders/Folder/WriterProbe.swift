import CLinux
import Glibc
import QuireCore

/// Finds out whether some program has a file open for writing, by asking for a read lease on it (`fcntl(2)`).
///
/// A filesystem without leases, one that is another machine's, or a file of another owner, gives no answer; then nobody is
/// assumed to write.
enum WriterProbe {
    static func hasWriter(at directory: Int32, _ name: FileName) -> Bool {
        guard let file = try? SystemCalls.open(at: directory, name, O_RDONLY | O_NONBLOCK) else { return false }
        return withLease(on: file.descriptor) {} == .writerPresent
    }

    enum Outcome: Sendable { case done, writerPresent, unknown }

    /// Runs `body` while nobody can open the file for writing; not at all when somebody has. Without leases `body` runs
    /// unguarded.
    static func withLease<Failure: Error>(
        on descriptor: Int32, _ body: () throws(Failure) -> Void
    ) throws(Failure) -> Outcome {
        // The kernel tells the holder of an opener that waits by a signal; SIGURG is ignored unless asked for.
        _ = fcntl(descriptor, LinuxCalls.setSignal, SIGURG)
        let outcome = takeLease(descriptor)
        switch outcome {
        case .done:
            defer { _ = fcntl(descriptor, LinuxCalls.setLease, Int32(F_UNLCK)) }
            try body()
        case .writerPresent: break
        case .unknown: try body()
        }
        return outcome
    }

    /// A process that is just being started has its parent's descriptors for a moment, so one look that finds a writer
    /// proves none.
    private static func takeLease(_ descriptor: Int32) -> Outcome {
        var found = statfs()
        let filesystem = fstatfs(descriptor, &found) == 0 ? Int(found.f_type) : 0
        for _ in 0..<10 {
            let code = fcntl(descriptor, LinuxCalls.setLease, Int32(F_RDLCK)) == 0 ? 0 : errno
            let outcome = Self.outcome(ofLease: code, on: filesystem)
            if outcome != .writerPresent { return outcome }
            SystemCalls.sleep(nanoseconds: 1_000_000)
        }
        return .writerPresent
    }

    /// What the answer to a request for a lease tells.
    ///
    /// - Parameters:
    ///   - code: 0 or an errno.
    ///   - filesystem: its type (`linux/magic.h`). NFS, and SMB under three names, refuse a lease in the same words whenever
    ///     the server has not given the file over, whoever writes or does not.
    static func outcome(ofLease code: Int32, on filesystem: Int) -> Outcome {
        switch (code, filesystem) {
        case (0, _): .done
        case (EAGAIN, 0x6969), (EAGAIN, 0xFF53_4D42), (EAGAIN, 0xFE53_4D42), (EAGAIN, 0x517B): .unknown
        case (EAGAIN, _): .writerPresent
        default: .unknown
        }
    }

    static func busy(_ path: RelativePath) -> ProviderError {
        ProviderError(
            .failed, "\(path) is open for writing by another program at the provider; it is tried again later")
    }
}
