import CLinux
import Dispatch
import Glibc
import Logging
import QuireCore
import Synchronization

/// Makes remote changes by calls on the mount itself, so that the kernel tells programs that watch (inotify, fanotify) of them:
/// a file system in user space has no other way to.
///
///     engine ─ SpokenChange ─▶ MountVoice ─ message ─▶ its process ─ renameat ─▶ kernel ─▶ IN_MOVED_TO
///                                  ▲                                              │ ▲
///                                  └─ claim ─ driver ◀─ RENAME, of that process ──┘ └ done
///
/// The driver knows the calls by the process, which is nobody else's and is a child of this one until it has ended. It makes
/// the change by the same compare-and-swap as any other; a call of that process that no change waits for is refused.
///
/// Nobody waits for it longer than `patience`: a program whose request waits may keep the directory locked. One call is under
/// way at a time. With one that is not back yet, changes are made without it. All methods may be called from any thread but
/// those that serve requests; `claim`, `isSpeaker` and `current` from those, too.
final class MountVoice: @unchecked Sendable {
    // Guarded by `monitor`: `isTaken`, `isSuspended`, `isOver`. Owned by who has the turn: `channel`, `owesAnswer`.
    private let monitor = ThreadMonitor()
    private var isTaken = false
    private var isSuspended = false
    private var isOver = false
    private var channel: Descriptor?
    private var owesAnswer = false

    private let program: VoiceProgram
    private let mountpoint: String
    private let logger: Logger
    private let process = Atomic<pid_t>(0)
    private let wasGreeted = Atomic<Bool>(false)
    // Taken alone.
    private let spoken = Lock<SpokenChange?>(nil)

    private static let patienceMilliseconds = 1000
    /// For the process to start.
    private static let startMilliseconds = 10_000

    init(_ program: VoiceProgram, mountpoint: String, logger: Logger) {
        self.program = program
        self.mountpoint = mountpoint
        self.logger = logger
    }

    // MARK: Names

    /// Begins and ends as the names do that file managers and editors pass over. No file is called so: the kernel alone is
    /// shown it, and programs that watch are told that it was moved from.
    private static let tokenStart = Array(".quire-arriving-".utf8)

    /// A name that nobody can guess, for one use.
    static func makeToken() -> FileName {
        let number = String(UInt64.random(in: .min ... .max), radix: 16)
        return FileName(unchecked: tokenStart + Array(number.utf8) + [UInt8(ascii: "~")])
    }

    static func isToken(_ name: FileName) -> Bool { name.bytes.starts(with: tokenStart) }

    // MARK: For the threads that serve requests

    /// Whether a request of this process is the driver's own. One relaxed atomic load.
    func isSpeaker(_ caller: pid_t) -> Bool { caller != 0 && process.load(ordering: .relaxed) == caller }

    /// The change that is being made, if any.
    var current: SpokenChange? { spoken.withLock { $0 } }

    /// The process has shown itself, and is known by its number.
    func greeted() { wasGreeted.store(true, ordering: .relaxed) }

    // MARK: For the sync engine

    /// Has the call for a change made. Returns when it has returned, or was given up; whether the change was made then,
    /// `SpokenChange.end` tells.
    func speak(_ change: SpokenChange) {
        guard let message = change.call?.message, takeTurn() else { return }
        defer { giveTurn() }
        guard isReady() else { return }
        spoken.withLock { $0 = change }
        defer { spoken.withLock { $0 = nil } }
        _ = say(message, Self.patienceMilliseconds)
    }

    /// No call is under way when this returns, unless it is one that waits for a program, and none begins before `resume`.
    func suspend() async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [self] in
                fallSilent()
                continuation.resume()
            }
        }
    }

    private func fallSilent() {
        monitor.locked {
            isSuspended = true
            let deadline = ThreadMonitor.deadline(milliseconds: 2 * Self.patienceMilliseconds)
            while isTaken, monitor.wait(until: deadline) {}
        }
    }

    func resume() { monitor.locked { isSuspended = false } }

    /// Ends the process. Nothing is spoken any more. Blocks for as long as a call is under way, two seconds at the most.
    func stop() {
        fallSilent()
        let mayEnd = monitor.locked {
            defer { isOver = true }
            guard !isTaken, !isOver else { return false }
            isTaken = true
            return true
        }
        guard mayEnd else { return }
        end()
        giveTurn()
    }

    // MARK: The turn

    private func takeTurn() -> Bool {
        monitor.locked {
            let deadline = ThreadMonitor.deadline(milliseconds: Self.patienceMilliseconds)
            while isTaken, !isSuspended { guard monitor.wait(until: deadline) else { return false } }
            guard !isTaken, !isSuspended, !isOver else { return false }
            isTaken = true
            return true
        }
    }

    private func giveTurn() {
        monitor.locked {
            isTaken = false
            monitor.broadcast()
        }
    }

    /// Whether a call can be made now. With the turn.
    private func isReady() -> Bool {
        guard channel != nil else { return start() }
        if owesAnswer { _ = answer(0) }
        return channel != nil && !owesAnswer
    }

    private func start() -> Bool {
        let child: (process: pid_t, channel: Descriptor)
        switch program.start() {
        case .success(let started): child = started
        case .failure(let error): return fail("its process cannot be started: \(error)")
        }
        channel = child.channel
        // Before its first request.
        process.store(child.process, ordering: .sequentiallyConsistent)
        let greeting = VoiceCall.greet(Self.makeToken())
        guard let message = greeting.message, let result = say(message, Self.startMilliseconds) else {
            return fail("its process does not answer")
        }
        guard result == 0, wasGreeted.load(ordering: .relaxed) else {
            return fail("its process reaches another mount, or is known by another number (\(ErrnoName.of(result)))")
        }
        return true
    }

    private func fail(_ reason: String) -> Bool {
        logger.warning(
            "programs that watch the drive (inotify) are not told of remote changes, until it is mounted again",
            metadata: ["mountpoint": "\(mountpoint)", "reason": "\(reason)"])
        monitor.locked { isOver = true }
        end()
        return false
    }

    /// - Returns: the errno of the call, 0 where it was done; nil where the process did not answer in time, or is gone.
    private func say(_ message: [UInt8], _ milliseconds: Int) -> CInt? {
        guard let channel else { return nil }
        owesAnswer = true
        guard send(channel.raw, message, message.count, CInt(MSG_NOSIGNAL)) == message.count else {
            lost()
            return nil
        }
        return answer(milliseconds)
    }

    private func answer(_ milliseconds: Int) -> CInt? {
        guard let channel, isReadable(channel, within: milliseconds) else { return nil }
        var result: CInt = 0
        guard recv(channel.raw, &result, MemoryLayout<CInt>.size, 0) == MemoryLayout<CInt>.size else {
            lost()
            return nil
        }
        owesAnswer = false
        return result
    }

    private func isReadable(_ channel: Descriptor, within milliseconds: Int) -> Bool {
        let end = MonotonicClock.now() + milliseconds * 1_000_000
        repeat {
            // Less than a second at one time, and ended early by signals.
            let left = min(max(0, end - MonotonicClock.now()), 999_999_999)
            if quire_wait_for_input(channel.raw, left) != 0 { return true }
        } while MonotonicClock.now() < end
        return false
    }

    /// The process has ended, by somebody's doing.
    private func lost() {
        guard !monitor.locked({ isSuspended }) else { return end() }
        _ = fail("its process has ended")
    }

    /// Closes the channel, by which the process ends. It stays known until it has: what it asked for is refused until then.
    private func end() {
        guard channel != nil else { return }
        channel = nil
        let child = process.load(ordering: .relaxed)
        let waiter = OwnedThread(name: "quire-voice-end") { [self] in
            var status = siginfo_t()
            while waitid(P_PID, id_t(child), &status, WEXITED | Int32(WNOWAIT)) != 0, errno == EINTR {}
            process.store(0, ordering: .relaxed)
            var code: CInt = 0
            while waitpid(child, &code, 0) < 0, errno == EINTR {}
        }
        // Without a thread it stays unburied until the daemon ends, and its number is nobody else's.
        withExtendedLifetime(waiter) {}
    }
}
