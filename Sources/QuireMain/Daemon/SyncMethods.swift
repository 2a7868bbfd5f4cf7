import QuireCore
import QuireStore
import QuireSync

/// The methods that the sync engines answer.
struct SyncMethods: Sendable {
    let sync: SyncService
    /// Called when a client had the drive synchronised.
    var whenSynchronised: @Sendable () -> Void = {}

    func addMethods(to methods: inout MethodTable) {
        let service = self
        let sync = sync
        methods.on(DriveMethods.Sync.self) { parameters, context in
            try await service.synchronise(parameters, context)
        }
        methods.on(ItemMethods.Download.self) { target, context in
            .init(files: try await service.download(target.path.path, context))
        }
        methods.on(ItemMethods.Evict.self) { target, _ in
            let eviction = try await sync.evictAll(target.path.path)
            return .init(
                files: eviction.files,
                refused: eviction.refused.map { .init(path: WirePath($0.path), message: $0.error.description) },
                refusedMore: eviction.more > 0 ? eviction.more : nil)
        }
        methods.on(ItemMethods.Pin.self) { target, _ in
            try await sync.pin(target.path.path)
            return .init()
        }
        methods.on(DriveMethods.Pause.self) { parameters, _ in
            let end = PauseEnd(after: parameters.seconds)
            try await sync.pause(until: end)
            return DriveStatus.Pause(end)
        }
        methods.on(DriveMethods.Resume.self) { _, _ in
            try await sync.resume()
            return WireNothing()
        }
        methods.on(ItemMethods.Unpin.self) { target, _ in
            try await sync.unpin(target.path.path)
            return .init()
        }
    }

    /// Tells the caller how much has arrived, no more often than it reads.
    private func download(_ path: RelativePath, _ context: CallContext) async throws -> Int {
        let (parts, part) = AsyncStream.makeStream(of: DownloadProgress.self, bufferingPolicy: .bufferingNewest(1))
        async let telling: Void = {
            for await progress in parts {
                await context.sendPartial(
                    ItemMethods.ContentProgress(
                        completed: progress.completed.bytes, total: progress.total.bytes))
            }
        }()
        let outcome: Result<Int, QuireError>
        do throws(QuireError) {
            outcome = .success(try await sync.download(path) { part.yield($0) })
        } catch {
            outcome = .failure(error)
        }
        part.finish()
        // Parts come before the answer.
        await telling
        return try outcome.get()
    }

    private static let betweenParts = Duration.milliseconds(500)

    /// Tells how far it is until the task is cancelled, and once more then.
    private static func tell(_ meter: SyncMeter, _ context: CallContext) async {
        var meter = meter
        var isOver = false
        while !isOver {
            // Ends early when it is over.
            do { try await Task.sleep(for: betweenParts) } catch { isOver = true }
            // Where the index cannot be read there is nothing to tell; the report says why.
            guard let progress = try? await meter.measure() else { continue }
            await context.sendPartial(
                DriveMethods.Sync.Partial(
                    filesDone: progress.filesDone, filesTotal: progress.filesTotal, bytesDone: progress.bytesDone,
                    bytesTotal: progress.bytesTotal, bytesPerSecond: progress.bytesPerSecond,
                    secondsLeft: progress.secondsLeft))
        }
    }

    private func synchronise(
        _ parameters: DriveMethods.Sync.Parameters, _ context: CallContext
    ) async throws -> SyncReport {
        var words: [String] = []
        var timeout = parameters.timeoutSeconds.map { Duration.milliseconds(Int64(min(max($0, 0), 1e9) * 1000)) }
        if parameters.confirmDeletes == true {
            let begun = ContinuousClock.now
            switch try await sync.confirmDeletions(timeout: timeout) {
            case nil: words.append("whether deletions are held back is not known yet, so none are confirmed")
            case 0: words.append("no deletions are held back, so none are confirmed")
            default: break
            }
            timeout = timeout.map { max(.zero, $0 - (ContinuousClock.now - begun)) }
        }
        let meter = parameters.progress == true ? SyncMeter(sync) : nil
        let telling = meter.map { meter in Task { await Self.tell(meter, context) } }
        let result = await withTaskCancellationHandler {
            await sync.syncNow(timeout: timeout)
        } onCancel: {
            telling?.cancel()
        }
        telling?.cancel()
        // Parts come before the answer.
        await telling?.value
        whenSynchronised()
        try Task.checkCancellation()
        let status = await sync.status()
        var report = SyncReport(
            end: .clean, pending: PendingCounts(status.pending), conflicts: status.conflicts.count,
            errors: DriveStatus.Problem.list(status.errors), errorsMore: DriveStatus.Problem.more(status.errors),
            held: status.held.map(DriveStatus.Held.init), messages: words)
        switch result {
        case .settled: break
        case .unresolved(_, _, let held): report.end = held > 0 ? .deletesHeld : .unresolved
        case .unreachable(let message, _):
            report.end = .unreachable
            report.messages.append(message)
        case .timedOut: report.end = .timedOut
        case .paused(let end, _):
            report.end = .paused
            report.messages.append(StatusText.pause(DriveStatus.Pause(end)))
        }
        return report
    }
}

extension PauseEnd {
    /// - Parameter seconds: from now on; nil without an end.
    init(after seconds: Double?) {
        guard let seconds else {
            self = .never
            return
        }
        let nanoseconds = Int64(min(max(seconds, 0), 1e9) * 1e9)
        self = .at(FileTime(nanoseconds: WallClock.now().nanoseconds + nanoseconds))
    }
}

extension DriveStatus.Pause {
    init(_ end: PauseEnd) {
        switch end {
        case .at(let time): self.init(until: WireTime(time))
        case .never: self.init(until: nil)
        }
    }
}

extension PendingCounts {
    init(_ pending: SyncStatus.Pending) {
        self.init(
            upload: pending.uploads, download: pending.downloads, delete: pending.deletions, rename: pending.renames)
    }
}

extension DriveStatus.Problem {
    /// Most problems that one message names.
    private static let limit = 200

    /// How many are not named.
    static func more(_ errors: [ParkedChange]) -> Int { max(0, errors.count - limit) }

    static func list(_ errors: [ParkedChange]) -> [DriveStatus.Problem] {
        errors.prefix(limit).map { error in
            DriveStatus.Problem(
                path: WirePath(error.path), message: error.message, since: WireTime(error.since))
        }
    }
}
