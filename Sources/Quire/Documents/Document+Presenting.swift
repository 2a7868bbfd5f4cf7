import Foundation
import QuireCore

/// What the drive asks and tells a document.
extension Document {
    /// Somebody is about to write: what is unsaved is saved first, so that it is what the writer adds to. Where that fails
    /// both are kept, as after any change with unsaved edits.
    func relinquishToWriter() async {
        turns.giveWay()
        do {
            try await autosave()
        } catch {
            report(error)
        }
        alter { $0.relinquishedToWriter() }
    }

    /// Somebody is about to read, and asks that edits be saved.
    func saveBecauseAsked() async throws {
        turns.giveWay()
        try await autosave()
    }

    /// The file is about to go, or to be replaced: what is unsaved is saved, so that whoever deletes has it, and the document
    /// closes.
    ///
    /// - Throws: why it could not be saved. The document stays open then, and the file as long as nobody insists.
    func accommodateDeletion() async throws {
        turns.giveWay()
        var failure: (any Error)?
        await turns.runGivingWay {
            guard machine.phase == .open else { return true }
            do {
                if hasUnsavedChanges { try await write(to: place) }
            } catch {
                if turns.isGivingWay(error) { return false }
                report(error)
                failure = error
                return true
            }
            end()
            event.yield(.deleted)
            return true
        }
        if let failure { throw failure }
    }

    /// What it is told, one after the other.
    func hear(_ message: DocumentPresenter.Message) async {
        switch message {
        case .changed: await lookForChange()
        case .moved(let url):
            guard presenter != nil else { return }
            fileURL = url
            event.yield(.moved)
        case .reacquired: alter { $0.reacquired() }
        case .versionsChanged: await lookForConflicts()
        }
    }

    /// Compares what is there with what was read or saved, in a coordinated read, and reads it where nothing is lost by that.
    private func lookForChange() async {
        do {
            try await turns.runGivingWay {
                guard machine.phase == .open else { return }
                try await loadIfChanged()
            }
        } catch let error as CocoaError where error.code == .fileNoSuchFile {
            // Gone again: whoever removed it asks, or asked, for that.
        } catch {
            report(error)
        }
    }

    private func loadIfChanged() async throws {
        let (stamp, contents) = try await coordinator(presenter).coordinate(
            readingItemAt: place, options: .withoutChanges
        ) { url in
            let there = await LibraryExecutor.run { DocumentFile(url: url).stamp() }
            guard alter({ $0.changed(there) }) == .reload else { return (there, nil as FileWrapper?) }
            let (contents, stamp) = try await Self.read(url)
            return (stamp, contents)
        }
        guard let contents else { return }
        // An edit made while it was read: both are kept, as if it had been there before.
        guard !hasUnsavedChanges else {
            _ = alter { $0.changed(stamp) }
            return
        }
        try take(contents)
        alter { $0.reloaded(stamp) }
        event.yield(.contentsLoaded)
    }

    /// Asks which versions are in conflict with the document.
    func lookForConflicts() async {
        guard machine.phase == .open else { return }
        do {
            let versions = try await FileVersion.unresolvedConflictVersionsOfItem(at: place)
            alter { $0.foundConflicts(versions.count) }
        } catch {
            report(error)
        }
    }
}
