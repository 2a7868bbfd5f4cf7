import Logging
import QuireConfinement
import QuireContent
import QuireCore
import QuireIndex
import ServiceLifecycle

/// Reads the words of documents in the background, when they rest, behind all other work.
struct ContentService: Service {
    let reader: ContentReader
    let index: MetadataIndex
    let programsFirst: ProgramsFirst

    /// How long a change is left alone: the next often follows at once.
    private static let rest = Duration.milliseconds(300)
    /// After the index could not be asked, or told: it is tried again, ever later.
    private static let pauses: (first: Duration, longest: Duration) = (.seconds(1), .seconds(60))
    /// Items that are looked at together.
    private static let page = 64

    func run() async {
        await cancelWhenGracefulShutdown {
            await withTaskCancellationHandler {
                await withTaskExecutorPreference(PoolExecutor.background) { await work() }
            } onCancel: {
                reader.stop.set()
            }
        }
    }

    private func work() async {
        // Nothing of it stays where everybody may write.
        defer { reader.extractor.directories.sweep() }
        reader.extractor.directories.sweep()
        let later = LaterDocuments()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await tellAgain(later) }
            group.addTask {
                for await _ in index.contentSignals where !Task.isCancelled {
                    // Cancelled: the stream ends.
                    try? await Task.sleep(for: Self.rest)
                    await readAll(later)
                }
            }
            // Cancelled, or the index is closed.
            _ = await group.next()
            group.cancelAll()
        }
    }

    /// Has what could not be read be tried again when it has rested.
    private func tellAgain(_ later: LaterDocuments) async {
        for await _ in later.signals {
            // Cancelled: the stream ends.
            try? await Task.sleep(for: later.pause)
            let due = later.take(Self.page)
            if !due.isEmpty { index.handBackContent(due) }
        }
    }

    /// Reads until nothing is left but what is tried again later.
    private func readAll(_ later: LaterDocuments) async {
        var pause = Self.pauses.first
        while !Task.isCancelled {
            await programsFirst()
            let extractor = reader.extractor
            var due: [ContentDocument] = []
            do {
                let work = try await index.contentWork(limit: Self.page) { extractor.form(of: $0) != nil }
                due = work.documents
                later.note(due, left: try await reader.read(due, programsFirst))
                if work.isLast { return }
                pause = Self.pauses.first
                continue
            } catch {
                // What was noted before is told no more.
                index.handBackContent(due)
                reader.logger.info("the words of documents cannot be noted now", metadata: ["error": "\(error)"])
            }
            // Cancelled: the loop ends.
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, Self.pauses.longest)
        }
    }
}
