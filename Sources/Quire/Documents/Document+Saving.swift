public import Foundation
import QuireCore

extension Document {
    /// Saves what is unsaved; nothing where nothing is.
    ///
    /// - Returns: whether it was saved.
    /// - Throws: as `save(to:for:)`.
    @discardableResult
    public func autosave() async throws -> Bool {
        try await turns.runGivingWay {
            guard machine.phase == .open, hasUnsavedChanges else { return false }
            try await write(to: place)
            return true
        }
    }

    /// Saves, whether or not anything is unsaved: in a coordinated write, in one step, off the main actor.
    ///
    /// Edits made meanwhile stay unsaved.
    /// - Parameters:
    ///   - url: `fileURL`. For a new document the place to make it at: it is open there afterwards.
    ///   - operation: whether there is a document, or this makes it.
    /// - Throws: `.usage` where the document is closed, or open and to be made, and for another place than the document's;
    ///   what `contents(forType:)` and `fileAttributesToWrite(to:for:)` throw; what coordinating and writing throw. All stays
    ///   unsaved then, and the state has `.savingError`.
    public func save(to url: URL, for operation: DocumentSaveOperation) async throws {
        try await turns.runGivingWay {
            switch operation {
            case .overwriting:
                guard machine.phase == .open, url.path == place.path else {
                    throw QuireError(
                        .usage, "\(url.path) is not the file of an open document",
                        remedy: "Open it, or save for creating")
                }
                try await write(to: place)
            case .creating: try await create(at: url, isNew: false)
            }
        }
        guard operation == .creating else { return }
        event.yield(.saved)
    }

    /// As `save(to:for:)` for creating, where nothing is by the time that access is granted.
    ///
    /// - Throws: `CocoaError(.fileWriteFileExists)` where something is: another device's document, which has just come.
    func saveNew(to url: URL) async throws {
        try await turns.runGivingWay { try await create(at: url, isNew: true) }
        event.yield(.saved)
    }

    private func create(at url: URL, isNew: Bool) async throws {
        try await opening { presenter in
            fileURL = url
            return try await create(presenter, at: url, isNew: isNew)
        }
    }

    // MARK: For the document's own parts

    /// One save, in its turn.
    func write(to url: URL) async throws {
        // By what the content is known that is there, whatever comes after.
        var written: ContentStamp?
        do {
            let token = machine.changeCountToken
            let contents: FileWrapper = try contents(forType: fileType)
            let attributes = try fileAttributesToWrite(to: url, for: .overwriting)
            let (stamp, failure) = try await coordinator(presenter).coordinate(writingItemAt: url) { url in
                let there = await LibraryExecutor.run { DocumentFile(url: url).stamp() }
                let plan = machine.planSave(token: token, over: there)
                let (stamp, failure, flushed) = try await LibraryExecutor.run {
                    let file = DocumentFile(url: url)
                    let stamp = try file.replace(with: contents, keepsOther: plan.keepsOther)
                    return (stamp, attributes.write(to: url), Result { try file.flushName() })
                }
                written = stamp
                try flushed.get()
                return (stamp, failure)
            }
            let keptOther = machine.state.contains(.inConflict)
            alter { $0.saved(token: token, stamp) }
            // Undone meanwhile, which counted as nothing unsaved before.
            if hasUnsavedChanges { scheduleAutosave() }
            event.yield(.saved)
            if let failure { report(failure) }
            if keptOther { await lookForConflicts() }
        } catch {
            if !turns.isGivingWay(error) { alter { $0.saveFailed(written: written) } }
            throw error
        }
    }

    private func create(_ presenter: DocumentPresenter, at url: URL, isNew: Bool) async throws -> ContentStamp? {
        let token = machine.changeCountToken
        let contents: FileWrapper = try contents(forType: fileType)
        let attributes = try fileAttributesToWrite(to: url, for: .creating)
        let (stamp, failure) = try await coordinator(presenter).coordinate(
            writingItemAt: url, options: .forReplacing
        ) { url in
            let written = try await LibraryExecutor.run {
                let file = DocumentFile(url: url)
                if isNew, file.stamp() != nil {
                    throw CocoaError(.fileWriteFileExists, userInfo: [NSFilePathErrorKey: url.path])
                }
                let stamp = try file.replace(with: contents, keepsOther: false)
                try file.flushName()
                return (stamp, attributes.write(to: url))
            }
            try await FileCoordinator.addFilePresenter(presenter)
            return written
        }
        alter { $0.edited(covering: token) }
        if let failure { report(failure) }
        return stamp
    }

    /// Saves some time after the last save or the first edit since.
    func scheduleAutosave() {
        guard machine.phase == .open, autosaving == nil, let delay = autosavingDelay else { return }
        // Whatever access the edit was made in is over by then.
        AccessScope.leaving {
            // Ends with the document, see `deinit` and `end()`.
            autosaving = Task { [weak self] in
                // Cancelled, there is nothing to save any more.
                guard (try? await Task.sleep(for: delay)) != nil else { return }
                await self?.autosaveOnTime()
            }
        }
    }

    private func autosaveOnTime() async {
        autosaving = nil
        do {
            try await autosave()
        } catch {
            report(error)
            scheduleAutosave()
        }
    }
}
