import QuireCore
import QuireSync

/// The methods that the sync engines answer.
struct SyncMethods: Sendable {
    let sync: SyncService
    /// Called when a client had the drive synchronised.
    var whenSynchronised: @Sendable () -> Void = {}

    func addMethods(to methods: inout MethodTable) {
        let service = self
        let sync = sync
        methods.on(DriveMethods.Sync.self) { parameters, _ in try await service.synchronise(parameters) }
        methods.on(ItemMethods.Download.self) { target, context in
            .init(files: try await service.download(target.path.path, context))
        }
        methods.on(ItemMethods.Evict.self) { target, _ in
            do {
                return .init(files: try await sync.evict(target.path.path))
            } catch let error as QuireError where error.code == .notAllowed || error.code == .busy {
                return .init(refused: [.init(path: target.path, message: error.description)])
            }
        }
        methods.on(ItemMethods.Pin.self) { target, _ in
            try await sync.pin(target.path.path)
            return .init()
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

    private func synchronise(_ parameters: DriveMethods.Sync.Parameters) async throws -> SyncReport {
        if parameters.confirmDeletes == true { try await sync.confirmDeletions() }
        let timeout = parameters.timeoutSeconds.map { Duration.milliseconds(Int64(min(max($0, 0), 1e9) * 1000)) }
        let result = await sync.syncNow(timeout: timeout)
        whenSynchronised()
        try Task.checkCancellation()
        let status = await sync.status()
        var report = SyncReport(
            end: .clean, pending: PendingCounts(status.pending), conflicts: status.conflicts.count,
            errors: DriveStatus.Problem.list(status.errors))
        switch result {
        case .settled: break
        case .unresolved(_, _, let held): report.end = held > 0 ? .deletesHeld : .unresolved
        case .unreachable(let message, _):
            report.end = .unreachable
            report.messages = [message]
        case .timedOut: report.end = .timedOut
        }
        return report
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

    static func list(_ errors: [ParkedChange]) -> [DriveStatus.Problem] {
        errors.prefix(limit).map { error in
            DriveStatus.Problem(
                path: WirePath(error.path), message: error.message, since: WireTime(error.since))
        }
    }
}
