import Logging
import QuireContent
import QuireCore
import QuireIndex
import QuireStore
import Synchronization

/// Reads documents for their words, and notes those in the index.
struct ContentReader: Sendable {
    let index: MetadataIndex
    let documents: DocumentReader
    let extractor: ContentExtractor
    let settings: ContentSettings
    let logger: Logger
    let stop = OnceMark()
    /// One at a time, behind everything else.
    private let pool = BackgroundPool(label: "quire-content", width: 1, niceness: 15)
    /// Whether there was no more room.
    private let fullness = ContentFullness()

    init(
        index: MetadataIndex, documents: DocumentReader, extractor: ContentExtractor, settings: ContentSettings,
        logger: Logger
    ) {
        self.index = index
        self.documents = documents
        self.extractor = extractor
        self.settings = settings
        self.logger = logger
    }

    /// So much is noted at a time.
    private static let batch = (bytes: 4_000_000, time: Duration.seconds(2))

    /// Reads documents and notes their words. Where there is no room for any, those of earlier versions are forgotten; all are
    /// told anew when there is.
    ///
    /// - Returns: those that could not be read for a reason that may pass, or are others, or elsewhere, by now.
    /// - Throws: what the index throws; all of them are to be handed back to it.
    func read(_ due: [ContentDocument], _ programsFirst: ProgramsFirst) async throws(IndexError) -> [ContentDocument] {
        guard !due.isEmpty || fullness.isFull else { return [] }
        guard try await hasRoom() else {
            try await index.forgetContent(due)
            return []
        }
        var left: [ContentDocument] = []
        var batch = ReadingBatch()
        for document in due {
            guard !Task.isCancelled else { break }
            await programsFirst()
            switch await outcome(document) {
            case .text(let text): batch.add(ContentReading(document, text: text), bytes: text?.utf8.count ?? 0)
            case .later: left.append(document)
            }
            if batch.bytes >= Self.batch.bytes || batch.age >= Self.batch.time { try await note(&batch) }
        }
        try await note(&batch)
        return left
    }

    private func note(_ batch: inout ReadingBatch) async throws(IndexError) {
        let readings = batch.readings
        batch = ReadingBatch()
        try await index.noteContent(readings)
    }

    private func hasRoom() async throws(IndexError) -> Bool {
        guard let size = try await index.contentSize() else { return true }
        switch fullness.note(size, limit: settings.limit) {
        case .full:
            logger.warning(
                "the words of no more documents are kept: their file is as large as it may be",
                metadata: ["megabytes": "\(settings.megabytes)", "key": "index.content_megabytes"])
        case .roomAgain:
            logger.info("there is room for the words of documents again")
            index.compareContent()
        case nil: break
        }
        return !fullness.isFull
    }

    // MARK: One document

    private enum Outcome: Sendable {
        /// Nil where none can be found in this version.
        case text(String?)
        /// For a reason that may pass, or as it is another by now, or elsewhere.
        case later
    }

    private func outcome(_ document: ContentDocument) async -> Outcome {
        guard let form = extractor.form(of: document.type), document.size <= ContentLimits.document else {
            return .text(nil)
        }
        let found = await pool.run { readNow(document, form) }
        if case .text(nil) = found {
            logger.info("no words are found in a document", metadata: ["path": "\(document.path)"])
        }
        return found
    }

    /// Blocks; on the pool.
    private func readNow(_ document: ContentDocument, _ form: ContentForm) -> Outcome {
        do {
            // What the index does not know yet is not read for nothing.
            guard try isStill(document) else { return .later }
            let text: String?
            if let reach = ContentExtractor.reach(form) {
                text = extractor.text(of: try documents.beginning(of: document.path, limit: reach), form)
            } else {
                let copy = try documents.copy(of: document.path)
                text = try extractor.text(ofCopy: copy, form, isCancelled: { stop.isSet })
            }
            return try isStill(document) ? .text(text) : .later
        } catch let error as StoreError {
            return outcome(of: error, document)
        } catch {
            logger.info("a document was not read", metadata: ["path": "\(document.path)", "error": "\(error)"])
            return .later
        }
    }

    private func isStill(_ document: ContentDocument) throws(StoreError) -> Bool {
        try documents.isStill(document.path, size: document.size.bytes, mtime: document.mtime)
    }

    private func outcome(of error: StoreError, _ document: ContentDocument) -> Outcome {
        switch error.code {
        case .notFound, .wrongKind, .dataless, .changed: return .later
        case .permissionDenied:
            // Perhaps for ever.
            logger.debug("a document may not be read", metadata: ["path": "\(document.path)"])
            return .later
        case .tooFresh, .noSpace, .cancelled, .failed, .alreadyExists, .notEmpty, .homeInUse,
            .unsuitableFilesystem:
            logger.info("a document was not read", metadata: ["path": "\(document.path)", "error": "\(error)"])
            return .later
        }
    }
}

/// What was read and is not noted yet.
private struct ReadingBatch {
    private(set) var readings: [ContentReading] = []
    private(set) var bytes = 0
    private let start = ContinuousClock.now

    var age: Duration { readings.isEmpty ? .zero : ContinuousClock.now - start }

    mutating func add(_ reading: ContentReading, bytes: Int) {
        readings.append(reading)
        self.bytes += bytes
    }
}
