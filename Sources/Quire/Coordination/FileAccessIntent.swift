public import Foundation
import QuireCore
import Synchronization

/// One item of an access to several, and what it is for (NSFileAccessIntent).
public final class FileAccessIntent: Sendable {
    let kind: AccessKind
    // Taken alone.
    private let current: Lock<URL>

    private init(_ url: URL, _ kind: AccessKind) {
        self.kind = kind
        self.current = Lock(url)
    }

    /// To read an item.
    public static func readingIntent(
        with url: URL, options: FileCoordinator.ReadingOptions = []
    ) -> FileAccessIntent { FileAccessIntent(url, .reading(options)) }

    /// To write an item.
    public static func writingIntent(
        with url: URL, options: FileCoordinator.WritingOptions = []
    ) -> FileAccessIntent { FileAccessIntent(url, .writing(options)) }

    /// Where the item is. Use it inside the accessor: the item may have moved while access was waited for.
    public var url: URL { current.withLock { $0 } }

    func move(to url: URL) { current.withLock { $0 = url } }
}
