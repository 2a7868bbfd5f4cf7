import Glibc
import Logging
import QuireCoordination
import QuireCore
import QuireFilesystem
import QuireIndex
import QuireSync
import QuireTransport

/// The control socket's methods, as the daemon answers them.
struct DaemonMethods {
    let parts: DriveParts
    let shutdown: CancelSignal
    let logger: Logger

    func table() -> MethodTable {
        var methods = MethodTable()
        addDrive(to: &methods)
        addVersions(to: &methods)
        parts.setup.addMethods(to: &methods)
        ViewMethods(view: parts.view).addMethods(to: &methods)
        LiveQueryService(view: parts.view, index: parts.index, queries: parts.queries).addMethods(to: &methods)
        SyncMethods(sync: parts.sync, whenSynchronised: { [inbox = parts.inbox] in inbox.noteSync() })
            .addMethods(to: &methods)
        addThumbnails(to: &methods)
        let home = parts.home.location.home
        CheckMethods(index: parts.index, secrets: ProviderSecrets(home: home), stores: KnownStores(home: home)) {
            await parts.live.running
        }.addMethods(to: &methods)
        CoordinationService(
            coordinator: parts.coordinator, logger: logger,
            isDirectory: { [mount = parts.mount] in mount.isDirectory($0) }
        ).addMethods(to: &methods)
        return methods
    }

    private func addDrive(to methods: inout MethodTable) {
        let (parts, shutdown) = (parts, shutdown)
        methods.on(DriveMethods.Hello.self) { _, _ in
            .init(
                version: Version.text, protocolVersion: Version.protocolNumber, pid: getpid(),
                mountpoint: parts.mount.mountpoint, notes: parts.notes,
                stopping: shutdown.isFired || !parts.mount.isServing ? true : nil)
        }
        methods.on(DriveMethods.Shutdown.self) { _, _ in
            let status = await parts.sync.status()
            shutdown.fire()
            return .init(pending: PendingCounts(status.pending), doubt: status.doubt)
        }
        methods.on(DriveMethods.Status.self) { _, _ in try await parts.status() }
        methods.on(DriveMethods.Driver.self) { _, _ in parts.driverStatus() }
    }

    private func addThumbnails(to methods: inout MethodTable) {
        let keeper = parts.thumbnails
        methods.on(ThumbnailMethods.Show.self) { target, _ in try await keeper.show(target.path.path) }
        methods.on(ThumbnailMethods.Place.self) { target, _ in try await keeper.place(target.path.path) }
        methods.on(ThumbnailMethods.Adopt.self) { target, _ in try await keeper.adopt(target.path.path) }
    }

    private func addVersions(to methods: inout MethodTable) {
        let parts = parts
        methods.on(VersionMethods.Versions.self) { target, context in
            await context.answer(try await parts.versions.list(target.path.path))
        }
        methods.on(VersionMethods.Restore.self) { parameters, _ in
            try await parts.versions.restore(
                parameters.path.path, version: parameters.version, sync: parts.sync, committer: parts.mount)
            return WireNothing()
        }
        methods.on(VersionMethods.ResolveVersion.self) { target, _ in
            try await parts.versions.resolve(
                target.path.path, copy: target.version, sync: parts.sync, committer: parts.mount)
            return WireNothing()
        }
        methods.on(VersionMethods.RemoveVersion.self) { target, _ in
            try await parts.versions.remove(target.path.path, version: target.version, sync: parts.sync)
            parts.coordinator.noteVersion(.lost, id: target.version, of: target.path.path)
            return WireNothing()
        }
        methods.on(VersionMethods.AddVersion.self) { parameters, _ in
            let version = try await parts.versions.add(parameters.file.path, to: parameters.path.path)
            parts.coordinator.noteVersion(.gained, id: version.name, of: parameters.path.path)
            return version
        }
        methods.on(VersionMethods.DiscardVersion.self) { target, _ in
            try await parts.versions.discard(target.path.path, version: target.version)
            return WireNothing()
        }
        methods.on(VersionMethods.NonlocalVersions.self) { target, context in
            await context.answer(try await parts.versions.listNonlocal(target.path.path, sync: parts.sync))
        }
        methods.on(VersionMethods.DownloadVersion.self) { target, _ in
            let (version, isNew) = try await parts.versions.download(
                target.path.path, version: target.version, sync: parts.sync)
            if isNew { parts.coordinator.noteVersion(.gained, id: version.name, of: target.path.path) }
            return version
        }
        methods.on(VersionMethods.Resolve.self) { parameters, _ in
            try await parts.versions.resolve(
                parameters.path.path, keep: parameters.keep, sync: parts.sync, committer: parts.mount)
        }
    }
}

extension DriveStatus.Waiting {
    init(_ waiting: WaitingUpload) {
        self.init(
            path: WirePath(waiting.path), reason: waiting.reason.rawValue, message: waiting.message,
            until: waiting.until.map(WireTime.init))
    }
}

extension DriveStatus.Space {
    init(_ report: SpaceReport) {
        self.init(
            used: report.used.bytes, limit: report.limits.limit?.bytes, keepFree: report.limits.keepFree?.bytes,
            left: report.left.bytes)
    }
}

extension DriveStatus.Problem {
    fileprivate init(_ rebuild: IndexRebuild) {
        self.init(
            path: WirePath(.root),
            message: "the index was damaged: it was set aside as \(rebuild.setAside), and is being built anew. "
                + "Nothing is sent or fetched until that is done",
            since: WireTime(rebuild.since))
    }
}

extension DriveParts {
    func status() async throws -> DriveStatus {
        let status = await sync.status()
        let configuration = home.configuration
        var errors = DriveStatus.Problem.list(status.errors)
        var items = 0
        // A failing disk is told of, not answered with a failure of its own.
        var failure = index.index.failure.map { "\($0)" }
        do {
            items = try await index.count()
        } catch {
            failure = failure ?? "\(error)"
        }
        if let failure {
            let problem = DriveStatus.Problem(
                path: WirePath(.root), message: failure, since: WireTime(MetadataIndex.systemClock()))
            errors.insert(problem, at: 0)
        }
        if let rebuild = index.index.rebuild { errors.insert(DriveStatus.Problem(rebuild), at: 0) }
        let space = await sync.spaceReport()
        // Where the index cannot be read, that is among the errors.
        let waiting = (try? await sync.waitingUploads(limit: Self.mostWaiting)) ?? []
        errors += (space?.refused ?? []).map {
            .init(path: WirePath($0.path), message: $0.message, since: WireTime($0.since))
        }
        return DriveStatus(
            home: home.location.home, mountpoint: mount.mountpoint, device: configuration.deviceName, state: .mounted,
            items: items, pending: PendingCounts(status.pending), conflicts: status.conflicts.count,
            heldDeletions: status.heldDeletions, held: status.held.map(DriveStatus.Held.init), errors: errors,
            errorsMore: DriveStatus.Problem.more(status.errors),
            providers: providers(status.engines), passthrough: mount.isPassthrough,
            rescanning: index.index.rescanProgress.isActive,
            lacksMimeDatabase: !TypeCatalog.system.database.isInstalled, space: space.map(DriveStatus.Space.init),
            paused: status.pauseEnd.map(DriveStatus.Pause.init), waiting: waiting.map(DriveStatus.Waiting.init))
    }

    /// How many waiting changes a status names.
    private static let mostWaiting = 100

    private func providers(_ engines: [EngineStatus]) -> [DriveStatus.Provider] {
        // Unreadable, it is as it was at the start: how the drive stands is told also while its disk fails.
        let urls = (try? home.location.configuration.read()?.configuration) ?? home.configuration
        return engines.map { engine in
            DriveStatus.Provider(
                name: engine.providerName, url: urls.provider(named: engine.providerName)?.url ?? "",
                online: engine.isOnline, message: engine.message)
        }
    }
}
