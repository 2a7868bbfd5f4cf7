import GRDB
import Logging
package import QuireCore

/// The words of documents, and how they stand to the documents.
struct ContentPart: Sendable {
    let store: ContentStore
    let queue: ContentQueue
}

/// What a caller that reads documents is told, and tells. Of one caller; nothing happens where words are not kept.
extension MetadataIndex {
    /// Removes what was kept of documents' words; nothing happens where nothing was. No index may have it open.
    package static func removeContent(at path: String) { ContentStore.remove(path) }

    /// Whether the words of documents are kept.
    package var keepsContent: Bool { content != nil }

    /// An element whenever there may be documents to read, the first at once; several may come as one. Ends with the index.
    /// For one listener.
    package var contentSignals: AsyncStream<Void> { content?.queue.signals ?? AsyncStream { $0.finish() } }

    /// The next documents whose content is here and was not read as it is now; what was read of those that went, or are no
    /// documents to read any more, is forgotten. What is told is to be noted or handed back before the next call.
    ///
    /// - Parameters:
    ///   - limit: how many items are looked at.
    ///   - isReadable: whether the text of a type can be found.
    package func contentWork(
        limit: Int, isReadable: @escaping @Sendable (ContentType) -> Bool
    ) async throws(IndexError) -> ContentWork {
        guard let content else { return ContentWork() }
        let changed = content.queue.take(limit)
        do {
            return changed.isEmpty
                ? try await continuePass(content, limit, isReadable)
                : try await see(to: changed, content, isReadable)
        } catch {
            content.queue.putBack(changed)
            throw error
        }
    }

    private func see(
        to changed: [Int64], _ content: ContentPart, _ isReadable: @escaping @Sendable (ContentType) -> Bool
    ) async throws(IndexError) -> ContentWork {
        let root = root
        let duties = try await read("changed content") { db in
            var due = ContentDue(root: root, isReadable: isReadable)
            return try due.duties(of: changed, db)
        }
        return try await carryOut(duties, content)
    }

    /// All items are compared with what was read, a page at a time.
    private func continuePass(
        _ content: ContentPart, _ limit: Int, _ isReadable: @escaping @Sendable (ContentType) -> Bool
    ) async throws(IndexError) -> ContentWork {
        guard let pass = content.queue.pass else { return ContentWork() }
        let root = root
        if pass.after == .min { try await forgetGone(content) }
        let (duties, end) = try await read("content") { db in
            var due = ContentDue(root: root, isReadable: isReadable)
            return try due.duties(after: pass.after, limit: limit, db)
        }
        var work = try await carryOut(duties, content)
        // Only now: what cannot be forgotten for now is found again, and with it what is to be read.
        content.queue.continued(pass, to: end)
        work.isLast = content.queue.isEmpty
        return work
    }

    private func forgetGone(_ content: ContentPart) async throws(IndexError) {
        var last: Int64 = .min
        while true {
            let after = last
            let gone = try await read("gone content") { try ContentDue.gone(after: after, limit: 1000, $0) }
            guard let end = gone.last else { return }
            try await forget(gone, content)
            last = end
        }
    }

    private func carryOut(_ duties: [ContentDue.Duty], _ content: ContentPart) async throws(IndexError) -> ContentWork {
        var (work, forgotten): (ContentWork, [Int64]) = (ContentWork(), [])
        for duty in duties {
            switch duty {
            case .read(let document): work.documents.append(document)
            case .forget(let id): forgotten.append(id)
            }
        }
        if !forgotten.isEmpty { try await forget(forgotten, content) }
        work.isLast = content.queue.isEmpty
        return work
    }

    /// Notes what documents say; running queries are told.
    ///
    /// - Throws: `.noSpace`, `.corrupt`, `.failed`: nothing was noted.
    package func noteContent(_ readings: [ContentReading]) async throws(IndexError) {
        guard let content, !readings.isEmpty else { return }
        try await onContentThread { () throws(IndexError) in try content.store.note(readings) }
        tell(readings.map(\.document.id.rawValue))
    }

    /// Documents that could not be read this time are told again by `contentWork`.
    package func handBackContent(_ documents: [ContentDocument]) {
        content?.queue.putBack(documents.map(\.id.rawValue))
    }

    /// What was read of earlier versions of documents is forgotten, which are not read as they are now.
    package func forgetContent(_ documents: [ContentDocument]) async throws(IndexError) {
        guard let content, !documents.isEmpty else { return }
        try await forget(documents.map(\.id.rawValue), content)
    }

    /// Has all documents that were not read be told again by `contentWork`.
    package func compareContent() { content?.queue.compareAll() }

    /// The bytes that the words take on the disk; nil where none are kept.
    package func contentSize() async throws(IndexError) -> ByteCount? {
        guard let content else { return nil }
        return try await onContentThread { () throws(IndexError) in try content.store.size() }
    }

    private func forget(_ items: [Int64], _ content: ContentPart) async throws(IndexError) {
        try await onContentThread { () throws(IndexError) in try content.store.forget(items) }
        tell(items)
    }
}
