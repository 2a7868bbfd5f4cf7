public import Foundation
import Glibc
import QuireCore

extension Document {
    /// Reads the file and begins to take part: brings its content here first, where it is elsewhere. Of a symbolic link the
    /// target is the document.
    ///
    /// - Throws: `.usage` where it is open already, for a directory that is no package, and for a URL on no drive;
    ///   `CocoaError(.fileNoSuchFile)` where there is no file; what `load(fromContents:ofType:)` throws. It is closed then.
    public func open() async throws {
        try await turns.run {
            await followLink()
            try await opening { presenter in
                let contents = try await coordinator(presenter, progress: showing()).coordinate(
                    readingItemAt: fileURL
                ) { url in
                    // Inside the access, so that no change falls between reading and registering.
                    try await FileCoordinator.addFilePresenter(presenter)
                    return try await Self.read(url)
                }
                try take(contents.0)
                return contents.1
            }
        }
        event.yield(.contentsLoaded)
        await lookForConflicts()
    }

    /// Saves what is unsaved and ends taking part. Of a document that is closed nothing happens.
    ///
    /// - Throws: what kept it from being saved; it is open still.
    public func close() async throws {
        try await turns.runGivingWay {
            guard machine.phase == .open else { return }
            while hasUnsavedChanges { try await write(to: place) }
            end()
        }
    }

    /// Reads the file at `url` in place of what the document has: unsaved edits are gone.
    ///
    /// - Throws: what reading and `load(fromContents:ofType:)` throw; the document is as it was then.
    public func revert(toContentsOf url: URL) async throws {
        try await turns.runGivingWay { try await reload(from: url) }
    }

    // MARK: For the document's own parts

    /// Runs `body`, which reads or makes the file; whatever it throws, the document is closed then.
    func opening(_ body: (DocumentPresenter) async throws -> ContentStamp?) async throws {
        guard alter({ $0.beginOpening() }) else {
            throw QuireError(.usage, "\(fileURL.path) is open already", remedy: "Close it first")
        }
        let presenter = DocumentPresenter(self, at: fileURL)
        self.presenter = presenter
        do {
            let stamp = try await body(presenter)
            if let progress { progress.completedUnitCount = progress.totalUnitCount }
            progress = nil
            alter { $0.opened(stamp) }
        } catch {
            end()
            throw error
        }
        listening = Task { [weak self] in
            for await message in presenter.messages { await self?.hear(message) }
        }
        // Made while the file was, which had none of it yet.
        if hasUnsavedChanges { scheduleAutosave() }
    }

    /// Ends taking part, at once.
    func end() {
        autosaving?.cancel()
        autosaving = nil
        progress = nil
        if let presenter {
            FileCoordinator.removeFilePresenter(presenter)
            presenter.finish()
        }
        presenter = nil
        alter { $0.closed() }
    }

    /// Where the file is, as the drive says it: `fileURL` follows in its turn.
    var place: URL { presenter?.presentedItemURL ?? fileURL }

    /// Made with the presenter, so that the document is not asked of its own accesses, and goes ahead of whoever asks it.
    func coordinator(
        _ presenter: DocumentPresenter?, progress: FileCoordinator.ProgressHandler? = nil
    ) -> FileCoordinator {
        let coordinator = FileCoordinator(filePresenter: presenter, progress: progress)
        turns.coordinator = coordinator
        return coordinator
    }

    /// In an access.
    static func read(_ url: URL) async throws -> (FileWrapper, ContentStamp?) {
        try await LibraryExecutor.run { try DocumentFile(url: url).read() }
    }

    /// Reads the file in its turn. Others are not asked to save for it: two editors would ask each other without end.
    func reload(from url: URL) async throws {
        let isOwn = url.path == place.path
        let (contents, stamp) = try await coordinator(presenter).coordinate(
            readingItemAt: url, options: .withoutChanges
        ) { try await Self.read($0) }
        try take(contents)
        if isOwn {
            alter { $0.reloaded(stamp) }
        } else {
            // What is there is still what it was.
            alter { $0.edited(.cleared) }
            updateChangeCount(.done)
        }
        event.yield(.contentsLoaded)
    }

    /// Shows what the daemon says of content that it brings here.
    private func showing() -> FileCoordinator.ProgressHandler {
        { [weak self] completed, total in
            Task { @MainActor [weak self] in self?.show(completed, of: total) }
        }
    }

    private func show(_ completed: Int64, of total: Int64) {
        // What is said may come late, and out of order.
        guard machine.phase == .opening else { return }
        let progress = progress ?? Progress(totalUnitCount: total)
        progress.completedUnitCount = max(progress.completedUnitCount, completed)
        self.progress = progress
        alter { $0.downloading(true) }
    }

    private func followLink() async {
        guard machine.phase == .closed else { return }
        let url = fileURL
        fileURL = await LibraryExecutor.run {
            var status = stat()
            guard lstat(url.path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK, let target = realPath(url.path)
            else { return url }
            return URL(filePath: target, directoryHint: .notDirectory)
        }
    }
}
