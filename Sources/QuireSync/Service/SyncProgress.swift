import QuireCore
import QuireIndex

/// How far `quire sync` is, counted from its beginning.
package struct SyncProgress: Sendable, Hashable {
    package var filesDone = 0
    /// Those done, under way and waiting; grows when programs go on writing.
    package var filesTotal = 0
    package var bytesDone: Int64 = 0
    package var bytesTotal: Int64 = 0
    /// Of the last seconds.
    package var bytesPerSecond: Int64 = 0

    /// How long the rest takes at this rate; nil where nobody can tell.
    package var secondsLeft: Int? {
        guard bytesPerSecond > 0, bytesTotal > bytesDone else { return nil }
        return Int((bytesTotal - bytesDone - 1) / bytesPerSecond + 1)
    }
}

/// Measures a `quire sync`: made at its beginning, asked now and then.
package struct SyncMeter: Sendable {
    private let service: SyncService
    private let before: TransferSum
    private let sent: Int64
    private var samples: [(time: ContinuousClock.Instant, bytes: Int64)] = []
    private var last = SyncProgress()
    private static let window = Duration.seconds(5)

    package init(_ service: SyncService) {
        self.service = service
        before = service.transfers.finished
        sent = service.environment.traffic.up.total
    }

    /// How far it is now; reads the index.
    package mutating func measure(at now: ContinuousClock.Instant = .now) async throws -> SyncProgress {
        let finished = service.transfers.finished.since(before)
        let current = service.transfers.current
        var progress = SyncProgress(filesDone: finished.files)
        progress.bytesDone = finished.bytes + underWay(current, finished)
        var waiting = SyncProgress()
        for engine in service.engines {
            let container = engine.context.container.id
            let totals = try await service.environment.index.pendingTotals(container)
            waiting.filesTotal += totals.uploads + totals.moves
            waiting.bytesTotal = waiting.bytesTotal.addingClamped(
                try await service.environment.index.pendingBytes(container))
        }
        let downloads = current.filter { $0.direction == .download }
        progress.filesTotal = progress.filesDone + waiting.filesTotal + downloads.count
        // What is being uploaded is pending until it is acknowledged.
        progress.bytesTotal = downloads.reduce(finished.bytes.addingClamped(waiting.bytesTotal)) {
            $0.addingClamped($1.total.bytes)
        }
        // A line that goes backwards helps nobody.
        progress.bytesDone = max(progress.bytesDone, last.bytesDone)
        progress.bytesTotal = max(progress.bytesTotal, progress.bytesDone)
        samples.append((now, progress.bytesDone))
        progress.bytesPerSecond = rate(now)
        last = progress
        return progress
    }

    /// Providers do not tell how much of an upload has gone; what went up beyond the finished ones is of those under way.
    private func underWay(_ current: [Transfer], _ finished: TransferSum) -> Int64 {
        let downloaded = current.reduce(Int64(0)) { $0 + ($1.direction == .download ? $1.done.bytes : 0) }
        let uploading = current.reduce(Int64(0)) { $0 + ($1.direction == .upload ? $1.total.bytes : 0) }
        let beyond = service.environment.traffic.up.total - sent - finished.uploaded
        return downloaded + min(uploading, max(0, beyond))
    }

    private mutating func rate(_ now: ContinuousClock.Instant) -> Int64 {
        while samples.count > 2, let first = samples.first, now - first.time > Self.window { samples.removeFirst() }
        guard let first = samples.first, let last = samples.last, last.time > first.time else { return 0 }
        return Int64(clamping: Double(last.bytes - first.bytes) / ((last.time - first.time) / .seconds(1)))
    }
}
