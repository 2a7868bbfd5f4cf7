import QuireCore
import Synchronization

extension DAVClient {
    /// Runs `body` while this device alone changes the items at `paths`, as far as Quire's devices are concerned.
    ///
    /// What is locked are names of Quire's own, not the documents: a LOCK of a document that is not there would make an
    /// empty one on most servers. A program that locks a document itself is respected all the same: the server answers
    /// 423 to whatever is done to it.
    ///
    /// Locks are renewed while `body` runs, and let go also when the task is cancelled. `body` is cancelled where one could
    /// not be renewed: another device may have been granted it.
    /// - Parameter body: runs once the locks were found to be held alone. Where nothing else keeps out who is granted
    ///   one of them later, it calls what it is given last before it changes anything: that throws `.failed` where a
    ///   lock turns out to be another's, too.
    /// - Throws: `.failed` where another device holds one for longer than `DAVLock.patience`, or one is lost; what `body`
    ///   throws.
    func withLocks<Value: Sendable>(
        on paths: [RelativePath],
        _ body: @escaping @Sendable (_ confirm: DAVLockConfirmation) async throws(ProviderError) -> Value
    ) async throws(ProviderError) -> Value {
        let end = ContinuousClock.now + DAVLock.patience
        var wait = Duration.milliseconds(20)
        while true {
            let held = try await acquire(DAVLayout.lockNames(paths), for: paths, until: end)
            let result = await renewing(held, for: paths) { () async throws(ProviderError) in
                let confirm = DAVLockConfirmation(client: self, locks: held)
                try await confirm()
                return try await body(confirm)
            }
            await release(held)
            if case .failure(let error) = result, error.code == .failed, error.message == DAVLockConfirmation.shared,
                ContinuousClock.now < end
            {
                try await pause(wait)
                wait = longer(wait)
                continue
            }
            return try result.get()
        }
    }

    /// What a server answers that cannot lock a directory with all below it.
    private static let lockless: Set<Int> = [400, 403, 405, 409, 412, 501]

    /// Locks a directory with all below it; nil where the server cannot.
    ///
    /// - Throws: where somebody has it locked, or something in it; where the server is in trouble.
    func lockTree(_ path: RelativePath) async throws(ProviderError) -> DAVLock? {
        var (answer, granted) = try await lock(path, depth: "infinity")
        if answer.status == 423, lockNames.hasLost {
            try await mend(path)
            (answer, granted) = try await lock(path, depth: "infinity")
        }
        if let granted { return granted }
        if Self.lockless.contains(answer.status) { return nil }
        guard !answer.isSuccess else {
            // 207: something in it is locked (RFC 4918 §9.10.9).
            let reason = answer.status == 207 ? "somebody has something in it locked" : "no lock was granted"
            throw ProviderError(.failed, "\(path) cannot be removed: \(reason)")
        }
        throw transport.error(answer, "\(path) cannot be removed")
    }

    /// Lets locks go, whatever becomes of the task. One that cannot be let go ends by itself.
    func release(_ locks: [DAVLock]) async {
        guard !locks.isEmpty else { return }
        lockNames.released(locks)
        await Task { for lock in locks { _ = try? await unlock(lock) } }.value
    }

    /// Removes what is Quire's own and not needed any more, whatever becomes of the task. What stays is swept later.
    func discard(_ path: RelativePath, isDirectory: Bool = false) async {
        await Task {
            // A request that was cut may still be at it.
            for attempt in 0..<4 {
                if attempt > 0 { try? await Task.sleep(for: .milliseconds(50 << attempt)) }
                let answer = try? await delete(path, isDirectory: isDirectory)
                // 207: a part of it is left.
                if let answer, answer.isSuccess && answer.status != 207 || answer.status == 404 { return }
                // A lock in it that was let go, and that the server has not forgotten.
                if isDirectory, answer != nil { try? await mend(path, depth: "1") }
            }
        }.value
    }

    /// The locks that `path` has, where the server tells.
    func locks(_ path: RelativePath) async throws(ProviderError) -> [DAVResource.KnownLock] {
        try await locks(path, depth: "0").filter { $0.path == path }.flatMap(\.locks)
    }

    private func locks(
        _ path: RelativePath, depth: String
    ) async throws(ProviderError) -> [(path: RelativePath, locks: [DAVResource.KnownLock])] {
        let found = try await propfind(path, depth: depth, isDirectory: true, body: DAVBodies.locks)
        return found?.map { ($0.path, $0.resource.locks) } ?? []
    }

    private func acquire(
        _ names: [RelativePath], for paths: [RelativePath], until end: ContinuousClock.Instant
    ) async throws(ProviderError) -> [DAVLock] {
        var held: [DAVLock] = []
        do throws(ProviderError) {
            for name in names { held.append(try await acquire(name, for: paths, until: end)) }
            return held
        } catch {
            await release(held)
            throw error
        }
    }

    private func acquire(
        _ name: RelativePath, for paths: [RelativePath], until end: ContinuousClock.Instant
    ) async throws(ProviderError) -> DAVLock {
        try await makeLockName(name)
        var wait = Duration.milliseconds(5)
        // A lock of our own of which no answer told is in the way at once; another's for a moment only.
        var mended = lockNames.hasLost ? ContinuousClock.now.advanced(by: .seconds(-2)) : ContinuousClock.now
        while true {
            let (answer, granted) = try await lock(name)
            if let granted { return granted }
            guard !answer.isSuccess else {
                throw ProviderError(.failed, "the server grants a lock without telling its token")
            }
            guard answer.status == 423, ContinuousClock.now < end else {
                let what = paths.first ?? .root
                throw transport.error(answer, "\(what) cannot be changed: another device is changing it")
            }
            if ContinuousClock.now - mended > .seconds(1) {
                try await mend(name)
                mended = .now
            }
            try await pause(wait)
            wait = longer(wait)
        }
    }

    private func longer(_ wait: Duration) -> Duration { min(wait * 1.6, .milliseconds(300)) }

    /// Looks once for locks that were let go since the last time, for the sake of other devices, who have to wait until such a one
    /// ends: see `mend`. That this fails is no reason for anything.
    func mendReleased() async {
        let names = lockNames.takeUnverified()
        guard lockNames.areTold, !names.isEmpty else { return }
        if names.count > Self.mostLooks { return _ = try? await mend(DAVLayout.locks, depth: "1") }
        for name in names { _ = try? await mend(name) }
    }

    /// Beyond so many names all are listed.
    private static let mostLooks = 3

    /// Lets go again what was let go: of two locks that are let go at the same moment a server may forget one only. And lets
    /// go what was granted in an answer that never came.
    func mend(_ name: RelativePath, depth: String = "0") async throws(ProviderError) {
        for (path, locks) in try await locks(name, depth: depth) {
            for lock in locks.compactMap({ lockNames.stale($0, at: path) }) { _ = try await unlock(lock) }
        }
    }

    /// Lock names are collections: a LOCK of what is not there is not exclusive on every server, and a file could be
    /// replaced under its lock by the PUT that made it.
    private func makeLockName(_ name: RelativePath) async throws(ProviderError) {
        guard !lockNames.state.withLock({ $0.known.contains(name) }) else { return }
        for attempt in 0..<5 {
            let answer = try await makeCollection(name)
            // 405 where it was there, and other words where another device makes it at this moment.
            if answer.isSuccess { break }
            if try await propfind(name, depth: "0", isDirectory: true) != nil { break }
            if attempt == 4 { throw transport.error(answer, "the account cannot be changed") }
            try await pause(.milliseconds(20))
        }
        lockNames.state.withLock { _ = $0.known.insert(name) }
    }

    /// About that long; at different times for different devices.
    private func pause(_ duration: Duration) async throws(ProviderError) {
        try await HTTPFailure.pause(duration * Double.random(in: 0.5...1.5))
    }

    private func renewing<Value: Sendable>(
        _ locks: [DAVLock], for paths: [RelativePath],
        _ body: @escaping @Sendable () async throws(ProviderError) -> Value
    ) async -> Result<Value, ProviderError> {
        let keeper = DAVLockKeeper(client: self, locks: locks, item: paths.first ?? .root)
        return await withTaskGroup(of: Result<Value, ProviderError>?.self) { group in
            group.addTask {
                do throws(ProviderError) { try await keeper.run() } catch { return .failure(error) }
                return nil
            }
            group.addTask {
                do throws(ProviderError) { return .success(try await body()) } catch { return .failure(error) }
            }
            // What comes first is why the other was cut; but what was done all the same is done.
            var result: Result<Value, ProviderError>?
            while let next = await group.next() {
                group.cancelAll()
                guard let next else { continue }
                if case .success = next { result = next } else { result = result ?? next }
            }
            return result ?? .failure(HTTPFailure.cancelled)
        }
    }
}
