import Logging
import QuireCommandLine
import QuireCore
import QuireIndex
import QuireStore
import QuireSync

/// The drive opened by this process while no daemon runs: holds the home as long as it lives.
///
/// What only asks makes nothing: where there is no home yet, there is nothing to tell.
struct StoppedDrive: DriveCaller {
    private let location: HomeLocation

    init(location: HomeLocation) { self.location = location }

    func call<Method: WireMethod>(
        _ method: Method.Type, _ parameters: Method.Parameters, onPartial: (@Sendable (Method.Partial) -> Void)?
    ) async throws(QuireError) -> Method.Result {
        let isNew = try location.readConfiguration() == nil
        if isNew, !Self.makesHome.contains(Method.name) {
            throw QuireError(
                .unavailable, "there is no drive in \(location.home) yet", remedy: "Make it with `quire mount`")
        }
        let home = try OpenHome(location)
        let (index, notes) = try IndexOpener(home: home, logger: Self.logger).open()
        defer { index.index.close() }
        for note in notes { Output.message(note) }
        return try await LocalCaller(methods: methods(home, index)).call(method, parameters, onPartial: onPartial)
    }

    private static let makesHome = [
        SetupMethods.ProviderAdd.name, SetupMethods.ProviderList.name, SetupMethods.ProviderRemove.name,
        SetupMethods.ContainerCreate.name, SetupMethods.ContainerList.name, SetupMethods.Limit.name,
    ]

    private static var logger: Logger {
        var logger = Logger(label: "quire") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .error
        return logger
    }

    private func methods(_ home: OpenHome, _ index: DriveIndex) -> MethodTable {
        let configuration = home.configuration
        let stores = KnownStores(home: location.home)
        let binding = ProviderBinding(index: index, stores: stores)
        let view = DriveView(
            catalog: index, tree: index.tree, searchesContent: configuration.content.isOn,
            providerName: { configuration.providerName(of: $0) },
            transfer: { _ in nil }, transfers: { [:] },
            containerName: { configuration.displayName(of: $0) },
            waiting: { entry in
                guard entry.state == .dirty else { return nil }
                return .init(path: WirePath(entry.path), reason: "stopped", message: nil, until: nil)
            })
        var methods = MethodTable()
        ViewMethods(view: view).addMethods(to: &methods)
        CheckMethods(index: index, secrets: ProviderSecrets(home: location.home), stores: stores) { configuration }
            .addMethods(to: &methods)
        let reset = StoreReset(
            containers: { try await binding.containers(of: $0, configuration) }, configuration: { configuration },
            reset: { try await binding.reset($0, configuration) })
        let renewal = SecretRenewal(
            configuration: { configuration }, known: { try await binding.known(of: $0, configuration) },
            use: { change, keep in
                try await keep()
                guard let url = change.url, let former = configuration.provider(named: change.provider) else { return }
                try await binding.follow(former, to: url, configuration)
            })
        SetupService(
            location: location, index: index, keeper: { try await binding.keeper(configuration) }, reset: reset,
            renewal: renewal
        ) {
            changed, commit in
            try Self.makeDirectories(changed, besides: configuration, in: index.tree)
            try await commit()
            return []
        }.addMethods(to: &methods)
        let versions = VersionService(view: view, versions: home.home.keptVersions, staging: home.home.staging)
        methods.on(VersionMethods.Versions.self) { target, context in
            await context.answer(try await versions.list(target.path.path))
        }
        addPause(to: &methods, index)
        methods.on(DriveMethods.Status.self) { _, _ in try await status(home, index) }
        return methods
    }

    private func addPause(to methods: inout MethodTable, _ index: DriveIndex) {
        methods.on(DriveMethods.Pause.self) { parameters, _ in
            let end = PauseEnd(after: parameters.seconds)
            try await index.index.setValue(SyncService.pauseKey, end.text)
            return DriveStatus.Pause(end)
        }
        methods.on(DriveMethods.Resume.self) { _, _ in
            try await index.index.setValue(SyncService.pauseKey, nil)
            return WireNothing()
        }
    }

    /// The pause that the next daemon goes on with; nil where there is none, or it is over.
    private func pause(_ index: DriveIndex) async throws -> DriveStatus.Pause? {
        guard let end = try await index.index.value(SyncService.pauseKey).flatMap({ PauseEnd(text: $0) }) else {
            return nil
        }
        if case .at(let time) = end, time <= WallClock.now() { return nil }
        return DriveStatus.Pause(end)
    }

    /// The next daemon's rescan tells the index.
    /// - Parameter present: the configuration before the change.
    private static func makeDirectories(
        _ configuration: Configuration, besides present: Configuration, in tree: DriveTree
    ) throws {
        let known = Set(present.containers.map(\.id))
        for container in configuration.containers {
            let directory = ContainerDirectory(name: container.name, tree: tree)
            if !known.contains(container.id) {
                try directory.requireDirectory()
                if container.provider != nil { try directory.requireContent() }
            }
            if try directory.kind() == nil { try tree.createDirectory(directory.path, mode: 0o755) }
        }
    }

    private func status(_ home: OpenHome, _ index: DriveIndex) async throws -> DriveStatus {
        let configuration = home.configuration
        let counts = try await index.index.counts()
        let errors = try await index.index.parkedErrors().map { entry in
            ParkedChange(
                subject: .base(entry.container, entry.path), path: entry.path, message: entry.error.message,
                since: entry.error.since)
        }
        let held = try await index.index.heldDeletes(naming: DriveStatus.Held.mostPaths).map { held in
            DriveStatus.Held(
                side: .device, provider: configuration.providerName(of: held.container), count: held.count,
                paths: held.first.map { WirePath(configuration.root(of: held.container).appending($0)) })
        }
        let limits = configuration.cache
        let used = limits.isEmpty ? nil : try await index.index.spaceUse().here
        let names = [configuration.defaultProvider?.name] + configuration.separateContainers.map(\.provider)
        return DriveStatus(
            home: location.home, mountpoint: nil, device: configuration.deviceName, state: .stopped,
            items: counts.items,
            pending: PendingCounts(
                upload: counts.pendingUploads, delete: counts.pendingDeletes, rename: counts.pendingRenames),
            conflicts: counts.conflicts, heldDeletions: held.reduce(0) { $0 + $1.count }, held: held,
            errors: DriveStatus.Problem.list(errors), errorsMore: DriveStatus.Problem.more(errors),
            providers: names.compactMap { $0.flatMap(configuration.provider(named:)) }.map {
                DriveStatus.Provider(name: $0.name, url: $0.url, online: false)
            }, lacksMimeDatabase: !TypeCatalog.system.database.isInstalled,
            space: used.map {
                .init(used: $0, limit: limits.limit?.bytes, keepFree: limits.keepFree?.bytes, left: nil)
            }, paused: try await pause(index))
    }
}
