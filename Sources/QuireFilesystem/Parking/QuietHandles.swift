import CFuse
import Glibc
import QuireCoordination
import QuireCore
import Synchronization

/// Open write handles that hold a claim: one that has not written for a second gives it up, so that an editor that keeps a
/// file open all day holds nobody up. Looks only while there are such handles.
final class QuietHandles: Sendable {
    private struct State {
        var files: [ObjectIdentifier: WeakFile] = [:]
        var isLooking = false
    }

    private struct WeakFile: Sendable {
        weak var file: OpenFile?
    }

    /// Taken alone.
    private let state = Lock(State())
    private static let interval = Duration.milliseconds(200)

    /// Watches a handle that was just opened.
    /// - Parameter settle: has the kernel send what it collected of the file's writes.
    func watch(_ file: OpenFile, settle: @escaping @Sendable (OpenFile) async -> Void) {
        let starts = state.withLock { state in
            state.files[ObjectIdentifier(file)] = WeakFile(file: file)
            defer { state.isLooking = true }
            return !state.isLooking
        }
        if starts { Task { await look(settle) } }
    }

    private func look(_ settle: @Sendable (OpenFile) async -> Void) async {
        while true {
            // Not cancelled by anybody: it ends with the last handle.
            try? await Task.sleep(for: Self.interval)
            let files = state.withLock { state in
                state.files = state.files.filter { $0.value.file != nil }
                if state.files.isEmpty { state.isLooking = false }
                return state.files.values.compactMap(\.file)
            }
            if files.isEmpty { return }
            for file in files where file.timeUntilQuiet == .zero {
                await settle(file)
                guard file.timeUntilQuiet == .zero else { continue }
                state.withLock { state in state.files[ObjectIdentifier(file)] = nil }
                file.claim?.end()
            }
        }
    }
}

extension OpenFile {
    /// How long a handle counts as writing after it last did.
    private static let rest = Duration.seconds(1)

    /// When the handle will count as quiet if nothing more is written; zero where it does.
    ///
    /// The file's ctime says when it was written last, by whichever way, the kernel's included.
    var timeUntilQuiet: Duration {
        var status = stat()
        var now = timespec()
        guard fstat(descriptor.raw, &status) == 0 else { return .zero }
        clock_gettime(CLOCK_REALTIME, &now)
        let age =
            Duration.seconds(now.tv_sec - status.st_ctim.tv_sec)
            + .nanoseconds(now.tv_nsec - status.st_ctim.tv_nsec)
        // A clock that was set back must not hold anybody up.
        return age < .zero || age >= Self.rest ? .zero : Self.rest - age
    }
}

extension Driver {
    /// Has a handle give up its claim when it comes to rest.
    func watch(_ file: OpenFile) {
        guard file.isWriter, let claim = file.claim, !claim.isCovered, !claim.hasEnded else { return }
        quietHandles.watch(file) { [weak self] in await self?.settle($0) }
    }

    /// Where the kernel collects writes, only what it has sent shows in the store.
    private func settle(_ file: OpenFile) async {
        guard writesBack.load(ordering: .relaxed) else { return }
        await notifier.writeBack([table.identifier(file.node)])
    }
}

extension Driver: MountWriters {
    var isWriting: Bool { table.locked { !$0.writing.isEmpty } }

    // Programs look inside the gate whether they must ask.
    func finishOperations() { gate.exclusive {} }

    var isIdle: Bool { gate.isFree }

    func inOrder(_ body: @escaping @Sendable () -> Void) { notifier.inOrder(body) }

    func untilQuiet(_ accesses: [Access], except process: Int32?) async {
        var pause = Duration.milliseconds(1)
        while !Task.isCancelled, let wait = await timeUntilQuiet(accesses, except: process) {
            // Ends early only by cancellation, which ends the loop. Often the handle is closed already, and the kernel about
            // to say so.
            try? await Task.sleep(for: min(wait, pause))
            pause = min(pause * 2, .milliseconds(50))
        }
    }

    /// How long until the handles that write to `accesses` now may be quiet; nil where none writes.
    private func timeUntilQuiet(_ accesses: [Access], except process: Int32?) async -> Duration? {
        let files = table.locked { state in state.writing.values.flatMap { $0.files.filter(\.isWriter) } }
        var longest: Duration?
        for file in files {
            guard let path = table.path(of: file.node), accesses.contains(where: { $0.meets(path) }) else { continue }
            if let process, ThreadOwner.isThread(file.thread, of: process) { continue }
            if file.timeUntilQuiet == .zero { await settle(file) }
            let wait = file.timeUntilQuiet
            if wait > .zero { longest = max(longest ?? .zero, wait) }
        }
        return longest
    }
}

extension Access {
    /// Whether a program's write of the file at `file` is in the way.
    fileprivate func meets(_ file: RelativePath) -> Bool {
        if let packageRoot { return file.isInside(packageRoot) }
        guard case .writing(let option) = intent, option.coversTree else { return file == path }
        return file.isInside(path)
    }
}
