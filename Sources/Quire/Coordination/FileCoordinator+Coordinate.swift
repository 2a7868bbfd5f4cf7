public import Foundation

/// For asynchronous code. The accessor runs in the caller's isolation; cancelling the task ends the wait with
/// `CocoaError(.userCancelled)`.
extension FileCoordinator {
    /// Reads an item.
    ///
    /// - Parameter reader: gets the item's URL, which may have changed while access was waited for.
    /// - Returns: what `reader` returns.
    /// - Throws: what the type says, and what `reader` throws.
    nonisolated(nonsending) public func coordinate<Value>(
        readingItemAt url: URL, options: ReadingOptions = [], byAccessor reader: (URL) async throws -> Value
    ) async throws -> Value {
        try await access(.readingIntent(with: url, options: options), byAccessor: reader)
    }

    /// Writes an item. As of reading.
    nonisolated(nonsending) public func coordinate<Value>(
        writingItemAt url: URL, options: WritingOptions = [], byAccessor writer: (URL) async throws -> Value
    ) async throws -> Value {
        try await access(.writingIntent(with: url, options: options), byAccessor: writer)
    }

    /// Reads one item and writes another, granted together.
    nonisolated(nonsending) public func coordinate<Value>(
        readingItemAt readingURL: URL, options readingOptions: ReadingOptions = [], writingItemAt writingURL: URL,
        options writingOptions: WritingOptions = [], byAccessor readerWriter: (URL, URL) async throws -> Value
    ) async throws -> Value {
        try await access(
            .readingIntent(with: readingURL, options: readingOptions),
            .writingIntent(with: writingURL, options: writingOptions), byAccessor: readerWriter)
    }

    /// Writes two items, granted together. To move an item: `.forMoving` its old URL and `.forReplacing` the new one, and
    /// `item(at:didMoveTo:)` in the accessor.
    nonisolated(nonsending) public func coordinate<Value>(
        writingItemAt url1: URL, options options1: WritingOptions = [], writingItemAt url2: URL,
        options options2: WritingOptions = [], byAccessor writer: (URL, URL) async throws -> Value
    ) async throws -> Value {
        try await access(
            .writingIntent(with: url1, options: options1), .writingIntent(with: url2, options: options2),
            byAccessor: writer)
    }

    /// Any number of accesses, granted together or not at all. The accessor uses the intents' URLs.
    nonisolated(nonsending) public func coordinate<Value>(
        with intents: [FileAccessIntent], byAccessor accessor: () async throws -> Value
    ) async throws -> Value {
        try await access(intents) { try await accessor() }
    }

    /// Asks the presenters of the items and of all below them at once, ahead of accesses of this coordinator to each in the
    /// accessor; gives access to nothing itself.
    nonisolated(nonsending) public func prepare<Value>(
        forReadingItemsAt readingURLs: [URL], options readingOptions: ReadingOptions = [],
        writingItemsAt writingURLs: [URL], options writingOptions: WritingOptions = [],
        byAccessor batchAccessor: () async throws -> Value
    ) async throws -> Value {
        let intents = try preparation(readingURLs, readingOptions, writingURLs, writingOptions)
        return try await access(intents, prepares: true) { try await batchAccessor() }
    }
}
