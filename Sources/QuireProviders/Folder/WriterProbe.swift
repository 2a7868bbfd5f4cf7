import Glibc
import QuireCore

/// Finds out whether some program has a file open for writing, by asking for a read lease on it (`fcntl(2)`).
///
/// A filesystem without leases, or a file of another owner, gives no answer; then nobody is assumed to write.
enum WriterProbe {
    static func hasWriter(at directory: Int32, _ name: FileName) -> Bool {
        guard let file = try? SystemCalls.open(at: directory, name, O_RDONLY | O_NONBLOCK) else { return false }
        return withLease(on: file.descriptor) {} == .writerPresent
    }

    enum Outcome { case done, writerPresent, unknown }

    /// Runs `body` while nobody can open the file for writing; not at all when somebody has. Without leases `body` runs
    /// unguarded.
    static func withLease<Failure: Error>(
        on descriptor: Int32, _ body: () throws(Failure) -> Void
    ) throws(Failure) -> Outcome {
        // The kernel tells the holder of an opener that waits by a signal; SIGURG is ignored unless asked for.
        _ = fcntl(descriptor, LinuxCalls.setSignal, SIGURG)
        switch takeLease(descriptor) {
        case 0:
            defer { _ = fcntl(descriptor, LinuxCalls.setLease, Int32(F_UNLCK)) }
            try body()
            return .done
        case EAGAIN: return .writerPresent
        default:
            try body()
            return .unknown
        }
    }

    /// Answers 0 or an errno. A process that is just being started has its parent's descriptors for a moment, so one
    /// look that finds a writer proves none.
    private static func takeLease(_ descriptor: Int32) -> Int32 {
        for _ in 0..<10 {
            if fcntl(descriptor, LinuxCalls.setLease, Int32(F_RDLCK)) == 0 { return 0 }
            let code = errno
            if code != EAGAIN { return code }
            SystemCalls.sleep(nanoseconds: 1_000_000)
        }
        return EAGAIN
    }

    static func busy(_ path: RelativePath) -> ProviderError {
        ProviderError(
            .failed, "\(path) is open for writing by another program at the provider; it is tried again later")
    }
}
