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
    /// After something could not be done: it is tried again, ever later.
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
        for await _ in index.contentSignals where !Task.isCancelled {
            // Cancelled: the stream ends.
            try? await Task.sleep(for: Self.rest)
            await readAll()
        }
    }

    /// Reads until nothing is left.
    private func readAll() async {
        var pause = Self.pauses.first
        while !Task.isCancelled {
            await programsFirst()
            let extractor = reader.extractor
            do {
                let work = try await index.contentWork(limit: Self.page) { extractor.form(of: $0) != nil }
                let left = try await reader.read(work.documents, programsFirst)
                if left.isEmpty {
                    if work.isLast { return }
                    continue
                }
                index.handBackContent(left)
            } catch {
                reader.logger.info("the words of documents cannot be noted now", metadata: ["error": "\(error)"])
            }
            // Cancelled: the loop ends.
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, Self.pauses.longest)
        }
    }
}
