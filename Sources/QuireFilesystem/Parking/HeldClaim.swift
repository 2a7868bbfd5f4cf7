import Glibc
import QuireCoordination
import QuireCore

/// A program's leave to go on. A claim in it ends when nobody refers to it any more, or earlier by `end`.
final class HeldClaim: Sendable {
    private let coordinator: Coordinator
    /// Nil where the program's process holds a claim of its own over the item: its changes are that claim's.
    private let claim: Claim?

    init(_ claim: Claim?, of coordinator: Coordinator) {
        self.claim = claim
        self.coordinator = coordinator
    }

    /// Whether the access is part of a coordinated access of the program's own process.
    var isCovered: Bool { claim == nil }

    /// Lets others go on. A second time nothing happens.
    func end() {
        if let claim { coordinator.release(claim) }
    }

    deinit { end() }
}

/// Which process a thread belongs to. The kernel names the thread that makes a request.
enum ThreadOwner {
    /// The process; the thread's own number where it is gone already.
    static func process(of thread: pid_t) -> pid_t {
        guard let file = fopen("/proc/\(thread)/status", "re") else { return thread }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            guard text.hasPrefix("Tgid:") else { continue }
            return pid_t(text.dropFirst(5).filter(\.isNumber)) ?? thread
        }
        return thread
    }

    /// Whether `thread` is one of `process`, as far as it still runs.
    static func isThread(_ thread: pid_t, of process: pid_t) -> Bool {
        thread == process || access("/proc/\(process)/task/\(thread)", F_OK) == 0
    }
}
