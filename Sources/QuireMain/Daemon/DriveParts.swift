import Glibc
import Logging
import QuireCoordination
import QuireCore
import QuireFilesystem
import QuireIndex
import QuireStore
import QuireSync
import QuireThumbnails

/// The parts of a drive that is served.
struct DriveParts: Sendable {
    let home: OpenHome
    let index: DriveIndex
    let coordinator: Coordinator
    let mount: DriveMount
    let sync: SyncService
    let view: DriveView
    let setup: SetupService
    let live: LiveSetup
    let versions: VersionService
    let queries: LiveQueries
    let thumbnails: ThumbnailKeeper
    /// What the keeper of thumbnails hears.
    let inbox: ThumbnailInbox
    let content: ContentReader
    /// What a person should know of the start.
    let notes: [String]

    /// Opens all parts; the drive is mounted when this returns, the rescan has begun, the engines do not run yet.
    /// Whatever was opened is closed again on an error.
    static func open(
        _ home: OpenHome, plan: MountPlan, mountpoint: Mountpoint, logger: Logger
    ) async throws -> DriveParts {
        let (index, notes) = try IndexOpener(home: home, logger: logger).open()
        do {
            return try await open(home, index, notes, plan: plan, mountpoint: mountpoint, logger: logger)
        } catch {
            index.index.close()
            throw error
        }
    }

    private static func open(
        _ found: OpenHome, _ index: DriveIndex, _ notes: [String], plan: MountPlan, mountpoint: Mountpoint,
        logger: Logger
    ) async throws -> DriveParts {
        let stores = KnownStores(home: found.location.home)
        let binding = ProviderBinding(index: index, stores: stores)
        let (configuration, bound) = try await binding.settle(found.configuration)
        var home = found
        home.configuration = configuration
        let traffic = Traffic(up: configuration.uploadLimit, down: configuration.downloadLimit)
        let factory = ProviderFactory(
            secrets: ProviderSecrets(home: home.location.home), stores: stores, binding: binding, traffic: traffic,
            logger: logger)
        let containers = try factory.containers(configuration)
        let coordinator = Coordinator(packages: PackageNames(extensions: configuration.packageExtensions))
        let late = LateSync()
        let room = WriteRoom()
        let view = DriveView(
            catalog: index, tree: index.tree, searchesContent: configuration.content.isOn,
            providerName: { configuration.providerName(of: $0) },
            transfer: { late.transfer($0) }, transfers: { late.transfers() },
            progress: { late.progress($0) }, arrived: { late.arrived($0) },
            containerName: { configuration.displayName(of: $0) },
            waiting: { try await late.waiting($0.id).map { DriveStatus.Waiting($0) } })
        try mountpoint.make()
        // Asked of the mount itself it would be the daemon that answers.
        let shown = DrivePaths.resolved(mountpoint.path)
        let inbox = ThumbnailInbox(before: plan.options.indexes ? index.index : UnheardEvents())
        let lateThumbnails = LateThumbnails(inbox: inbox)
        let mount = try mount(
            at: mountpoint, home, inbox, index, late,
            ItemAttributes(view: view, home: home.location.home, thumbnails: lateThumbnails), coordinator, room, plan,
            logger)
        let sync = SyncService(
            environment: SyncEnvironment(
                index: index.sync, committer: mount, coordinator: coordinator, tree: index.tree,
                staging: home.home.staging, partialPath: home.home.partialPath,
                versions: home.home.keptVersions, settings: SyncSettings(configuration),
                limits: configuration.cache, room: room, traffic: traffic),
            containers: containers, logger: logger)
        // Programs open documents by now: they do not wait for the look at the space.
        await late.bind(sync)
        await sync.beginSpace()
        let queries = LiveQueries(index.index, transfers: { late.transfers() }, logger: logger)
        sync.transfers.observe { queries.noteTransfer(of: $0) }
        let tools = ThumbnailTools(home, index, sync: sync, mountpoint: shown, logger: logger)
        inbox.setInterest(ThumbnailInterest { $0.preferredMIMEType.map(tools.makesUnasked) ?? false })
        let thumbnails = ThumbnailKeeper(tools: tools) { inbox.track($0) }
        lateThumbnails.bind(thumbnails)
        let content = ContentReader(home, index, logger: logger)
        index.index.beginRescan()
        let live = LiveSetup(running: configuration, factory: factory, index: index, mount: mount, sync: sync)
        let reset = StoreReset(
            containers: { try await binding.containers(of: $0, live.running) }, configuration: { await live.running },
            reset: { try await live.reset($0.name) })
        let renewal = SecretRenewal(
            configuration: { await live.running }, known: { try await binding.known(of: $0, live.running) },
            use: { try await live.useSecret($0, $1) })
        return DriveParts(
            home: home, index: index, coordinator: coordinator, mount: mount, sync: sync, view: view,
            setup: SetupService(
                location: home.location, index: index, keeper: { configuration.defaultProvider?.name }, reset: reset,
                renewal: renewal
            ) { try await live.apply($0, $1) },
            live: live,
            versions: VersionService(view: view, versions: home.home.keptVersions, staging: home.home.staging),
            queries: queries, thumbnails: thumbnails, inbox: inbox, content: content,
            notes: notes + bound + content.notes)
    }

    private static func mount(
        at mountpoint: Mountpoint, _ home: OpenHome, _ sink: ThumbnailInbox, _ index: DriveIndex, _ content: LateSync,
        _ attributes: ItemAttributes, _ coordinator: Coordinator, _ room: WriteRoom, _ plan: MountPlan,
        _ logger: Logger
    ) throws(QuireError) -> DriveMount {
        do {
            let mount = try DriveMount.mount(
                at: mountpoint.path, tree: index.tree,
                services: DriveServices(
                    sink: sink, content: content, attributes: attributes, coordinator: coordinator,
                    claimDeadline: .seconds(home.configuration.deadlineSeconds),
                    deviceName: home.configuration.deviceName, room: room),
                options: MountOptions(
                    source: plan.source, allowOther: plan.options.allowOther, passthrough: plan.options.passthrough,
                    collectsWrites: plan.options.writeback,
                    readers: plan.options.readers ?? MountOptions.defaultReaders, others: plan.options.kernel,
                    traces: plan.options.debug,
                    voice: VoiceProgram(program: "/proc/self/exe", mountpoint: mountpoint.path)),
                containerRoots: Set(home.configuration.containers.map(\.name)), logger: logger)
            index.index.setLateReporter { [weak mount] in mount?.reportWrites() }
            index.index.setOperations { [weak mount] in mount?.finishOperations() }
            return mount
        } catch {
            throw QuireError(.unavailable, error.message, remedy: error.remedy)
        }
    }

    /// See `MountRequest.indexes`.
    private struct UnheardEvents: StoreEventSink {
        func record(_ event: StoreEvent) {}
    }

    /// Notes in the index which provider keeps which container.
    ///
    /// - Returns: what there is to say of those whose store cannot be told: nothing is connected there until it can.
    func renewBindings() async -> [String] {
        let binding = ProviderBinding(index: index, stores: KnownStores(home: home.location.home))
        return await binding.renewAll(await live.running, sync.containers)
    }

    /// Brings the index to rest, after the drive was unmounted.
    func close() async throws {
        let index = index.index
        try await Blocking.run { index.close() }
    }
}

extension SyncSettings {
    init(_ configuration: Configuration) {
        self.init(deviceName: configuration.deviceName)
        pollInterval = .seconds(configuration.pollSeconds)
        settleTime = .milliseconds(configuration.settleMilliseconds)
        parallelTransfers = configuration.parallel
        claimDeadline = .seconds(configuration.deadlineSeconds)
    }
}
