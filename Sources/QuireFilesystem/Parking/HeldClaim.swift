import Glibc
import QuireCoordination
import QuireCore
import Synchronization

/// A program's leave to go on. A claim in it ends when nobody refers to it any more, or earlier by `end`.
final class HeldClaim: Sendable {
    private let coordinator: Coordinator
    // Taken alone.
    private let claim: Lock<Claim?>
    /// Whether the access is part of a coordinated access of the program's own process: its changes are that claim's.
    let isCovered: Bool
    /// In place of a claim: it counts as one that was ended.
    let pass: Pass?

    /// - Parameter claim: nil where the program's process holds a claim of its own over the item.
    init(_ claim: Claim?, of coordinator: Coordinator) {
        self.claim = Lock(claim)
        self.isCovered = claim == nil
        self.pass = nil
        self.coordinator = coordinator
    }

    /// Leave without a claim.
    init(_ pass: Pass, of coordinator: Coordinator) {
        self.claim = Lock(nil)
        self.isCovered = false
        self.pass = pass
        self.coordinator = coordinator
    }

    /// Whether it was ended.
    var hasEnded: Bool { !isCovered && claim.withLock { $0 == nil } }

    /// Lets others go on. A second time nothing happens.
    func end() {
        if let claim = take() { coordinator.release(claim) }
    }

    /// Goes on with the claim of `other`, which has none any more.
    func resume(with other: HeldClaim) {
        guard let new = other.take() else { return }
        let old = claim.withLock { claim in
            defer { claim = new }
            return claim
        }
        if let old { coordinator.release(old) }
    }

    private func take() -> Claim? {
        claim.withLock { claim in
            defer { claim = nil }
            return claim
        }
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
