public import Foundation
import QuireCore

/// For synchronous code: the calling thread waits for access and runs the accessor.
extension FileCoordinator {
    /// Reads an item.
    ///
    /// - Parameter reader: gets the item's URL, which may have changed while access was waited for.
    /// - Returns: what `reader` returns.
    /// - Throws: what the type says, and what `reader` throws.
    @available(*, noasync) @_disfavoredOverload
    public func coordinate<Value>(
        readingItemAt url: URL, options: ReadingOptions = [], byAccessor reader: (URL) throws -> Value
    ) throws -> Value {
        try CallerExecutor.run {
            try await access(.readingIntent(with: url, options: options)) { try reader($0) }
        }
    }

    /// Writes an item. As of reading.
    @available(*, noasync) @_disfavoredOverload
    public func coordinate<Value>(
        writingItemAt url: URL, options: WritingOptions = [], byAccessor writer: (URL) throws -> Value
    ) throws -> Value {
        try CallerExecutor.run {
            try await access(.writingIntent(with: url, options: options)) { try writer($0) }
        }
    }

    /// Reads one item and writes another, granted together.
    @available(*, noasync) @_disfavoredOverload
    public func coordinate<Value>(
        readingItemAt readingURL: URL, options readingOptions: ReadingOptions = [], writingItemAt writingURL: URL,
        options writingOptions: WritingOptions = [], byAccessor readerWriter: (URL, URL) throws -> Value
    ) throws -> Value {
        try CallerExecutor.run {
            try await access(
                .readingIntent(with: readingURL, options: readingOptions),
                .writingIntent(with: writingURL, options: writingOptions)
            ) { try readerWriter($0, $1) }
        }
    }

    /// Writes two items, granted together.
    @available(*, noasync) @_disfavoredOverload
    public func coordinate<Value>(
        writingItemAt url1: URL, options options1: WritingOptions = [], writingItemAt url2: URL,
        options options2: WritingOptions = [], byAccessor writer: (URL, URL) throws -> Value
    ) throws -> Value {
        try CallerExecutor.run {
            try await access(
                .writingIntent(with: url1, options: options1), .writingIntent(with: url2, options: options2)
            ) { try writer($0, $1) }
        }
    }

    /// Any number of accesses, granted together or not at all; returns at once.
    ///
    /// - Parameters:
    ///   - queue: where `accessor` runs.
    ///   - accessor: runs once, unless its operation is cancelled in the queue before. With nil there is access until it
    ///     returns; with an error there is none. That the daemon ended meanwhile is not told: use the asynchronous form to know.
    public func coordinate(
        with intents: [FileAccessIntent], queue: OperationQueue,
        byAccessor accessor: @escaping @Sendable ((any Error)?) -> Void
    ) {
        // The callback form is the border at which asynchronous work begins.
        Task {
            do {
                let (access, snapshots) = try await begin(intents, prepares: false)
                let scope = scope(access, prepares: false)
                await Self.run(in: queue) { AccessScope.$current.withValue(scope) { accessor(nil) } }
                try? await end(access, snapshots)
            } catch {
                queue.addOperation { accessor(error) }
            }
        }
    }

    /// Asks the presenters of the items and of all below them at once.
    ///
    /// - Parameter batchAccessor: runs on the calling thread; the preparation lasts until what it is handed has been called,
    ///   on any thread, and this returns when it has.
    @available(*, noasync) @_disfavoredOverload
    public func prepare(
        forReadingItemsAt readingURLs: [URL], options readingOptions: ReadingOptions = [],
        writingItemsAt writingURLs: [URL], options writingOptions: WritingOptions = [],
        byAccessor batchAccessor: (_ completionHandler: @escaping @Sendable () -> Void) -> Void
    ) throws {
        let intents = try preparation(readingURLs, readingOptions, writingURLs, writingOptions)
        try CallerExecutor.run {
            try await access(intents, prepares: true) {
                let (done, finish) = AsyncStream.makeStream(of: Void.self)
                batchAccessor { finish.finish() }
                for await _ in done {}
            }
        }
    }

    /// Runs `body` in a queue and returns when it has run, or was cancelled there.
    private static func run(in queue: OperationQueue, _ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            let operation = BlockOperation(block: body)
            operation.completionBlock = { continuation.resume() }
            queue.addOperation(operation)
        }
    }
}
