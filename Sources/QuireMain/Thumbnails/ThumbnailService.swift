import Logging
import QuireConfinement
import QuireCore
import QuireIndex
import QuireSync
import QuireThumbnails
import ServiceLifecycle

/// Runs the keeper of thumbnails: after the rescan it looks at all documents once, then at those that something happened to.
struct ThumbnailService: Service {
    let keeper: ThumbnailKeeper
    let inbox: ThumbnailInbox
    let pollInterval: Duration
    let programsFirst: ProgramsFirst

    /// How long a change is left alone: the next often follows at once.
    private static let rest = Duration.milliseconds(300)
    private static let longestRest = Duration.seconds(10)
    /// Files that are looked at together.
    private static let page = 64
    /// How soon a provider is asked again that did not answer, or that may have what has just come.
    private static let haste = Duration.seconds(1)

    func run() async {
        await runUntilShutdown("thumbnails", keeper.tools.logger) {
            await withTaskCancellationHandler {
                await withTaskExecutorPreference(PoolExecutor.background) { await work() }
            } onCancel: {
                keeper.stop.set()
            }
        }
    }

    private func work() async {
        // Nothing of it stays where everybody may write.
        defer { keeper.tools.maker.directories.sweep() }
        keeper.tools.home.load()
        keeper.tools.maker.directories.sweep()
        let report = await keeper.tools.index.rescanFinished()
        await keeper.poll()
        // Where documents are missing for no known reason, their pictures stay.
        if let report, report.failure == nil, !report.holdsDeletes { await keeper.beginWalk() }
        var walk: [RelativePath] = [.root]
        var asked = ContinuousClock.now
        while !Task.isCancelled {
            let isIdle = walk.isEmpty && inbox.isEmpty
            if isIdle {
                let pause = await keeper.isImpatient ? Self.haste : pollInterval
                await inbox.signal.wait(atMost: max(.zero, pause - (ContinuousClock.now - asked)), clock: .system)
            }
            let news = inbox.isEmpty ? ThumbnailInbox.News() : await rested()
            // Of an index that is being built anew nothing is told to be gone. Cancelled: the loop ends.
            try? await keeper.tools.index.waitUntilWhole()
            if news.isIncomplete { walk = [.root] }
            for path in news.given { await look(path) }
            await look(at: Array(news.touched))
            for path in await keeper.left(news) { await look(path) }
            for directory in await keeper.directories(news.moved) { walk.append(directory) }
            if let directory = walk.popLast() {
                walk += await step(into: directory)
                if walk.isEmpty, !Task.isCancelled { await keeper.removeUnmet() }
            }
            let pause = await keeper.isImpatient ? Self.haste : pollInterval
            if news.asks || ContinuousClock.now - asked >= pause {
                await keeper.poll()
                asked = .now
            }
        }
    }

    /// What happened, once it is quiet for a moment, or after `longestRest`: while a whole provider is listed, or documents are
    /// unpacked, the processor is wanted for that.
    private func rested() async -> ThumbnailInbox.News {
        let start = ContinuousClock.now
        var before: Int
        repeat {
            before = inbox.count
            // Cancelled: the loop ends.
            try? await Task.sleep(for: Self.rest)
        } while !Task.isCancelled && inbox.count != before && ContinuousClock.now - start < Self.longestRest
        await programsFirst()
        await keeper.settle()
        return inbox.take()
    }

    private func look(_ path: RelativePath) async {
        guard !Task.isCancelled else { return }
        await programsFirst()
        await keeper.look(at: path)
    }

    /// Looks at touched files, a few at a time: of many, few are in memory.
    private func look(at touched: [UInt64]) async {
        for start in stride(from: 0, to: touched.count, by: Self.page) where !Task.isCancelled {
            for item in await keeper.candidates(among: touched[start...].prefix(Self.page)) { await look(item) }
        }
    }

    private func look(_ item: IndexItem) async {
        guard !Task.isCancelled else { return }
        await programsFirst()
        await keeper.look(at: item)
    }

    /// Looks at the documents of a directory that may have, or get, a thumbnail.
    ///
    /// - Returns: the directories in it.
    private func step(into directory: RelativePath) async -> [RelativePath] {
        guard !Task.isCancelled else { return [] }
        await programsFirst()
        let (documents, directories) = await keeper.candidates(in: directory)
        for document in documents { await look(document) }
        return directories
    }
}

extension ThumbnailKeeper {
    /// Waits until the index knows what happened.
    func settle() async {
        do {
            try await tools.index.settle()
        } catch {
            tools.logger.info("the index is behind", metadata: ["error": "\(error)"])
        }
    }

    /// Where these directories are now.
    func directories(_ inodes: Set<UInt64>) async -> [RelativePath] {
        // One that is gone again is none.
        ((try? await tools.index.items(inodes: inodes)) ?? []).map(\.path)
    }

    /// Whether a document has something in the home, or may get a picture in the background.
    func isCandidate(_ item: IndexItem) -> Bool {
        guard let room = tools.sync.thumbnailRoom(for: item.path),
            let inner = item.path.removing(ancestor: room.root)
        else { return false }
        let document = ThumbnailKey.document(inner)
        unmet?.remove(document)
        if tools.home.key(document: document) != nil { return true }
        if item.local.size == 0 { return false }
        if item.local.isDataless { return !tools.home.isFull }
        return mediaType(item).map(tools.makesUnasked) ?? false
    }

    /// The documents in a directory that have something in the home or may get a picture, and the directories in it.
    func candidates(in directory: RelativePath) async -> (documents: [IndexItem], directories: [RelativePath]) {
        var (documents, directories): ([IndexItem], [RelativePath]) = ([], [])
        let children: [IndexItem]
        do { children = try await tools.index.children(of: directory) } catch {
            // What lies there was not met, and has its pictures all the same.
            unmet = nil
            tools.logger.info("documents are not looked at", metadata: ["path": "\(directory)", "error": "\(error)"])
            return ([], [])
        }
        for item in children {
            switch item.local.kind {
            case .directory: directories.append(item.path)
            case .file where isCandidate(item): documents.append(item)
            default: break
            }
        }
        return (documents, directories)
    }
}
